# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Words for jobs. A check prints "ok TEXT" or "not ok TEXT"; a job goes on
# after a failed one.
# shellcheck disable=SC2034 # for the jobs
DIES=(0000:03:00.0 0000:04:00.0 0000:07:00.0 0000:08:00.0 0000:0b:00.0
	0000:0c:00.0)
# shellcheck disable=SC2034
PORTS=(0000:00:04.0 0000:01:00.0 0000:02:08.0 0000:02:10.0
	0000:00:05.0 0000:05:00.0 0000:06:08.0 0000:06:10.0
	0000:00:06.0 0000:09:00.0 0000:0a:08.0 0000:0a:10.0)
# shellcheck disable=SC2034
SYS=/sys/bus/pci/devices
KO=$BUILD/kmod-$(uname -r)
DEV=/dev/bar_swap

# check TEXT COMMAND...: ok if the command succeeds; its output on failure
check()
{
	local text=$1 said

	shift
	if said=$("$@" 2>&1); then
		echo "ok $text"
	else
		echo "not ok $text"
		printf '%s\n' "$said" | sed 's/^/#   /'
		return 1
	fi
}

# check_is TEXT GOT WANTED
check_is()
{
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "#   wanted: $3"
		echo "#   got:    $2"
		return 1
	fi
}

# check_like TEXT GOT PATTERN (extended regular expression)
check_like()
{
	if grep -qE -- "$3" <<<"$2"; then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "#   wanted: /$3/"
		echo "#   got:    $2"
		return 1
	fi
}

# order the die program: ctl DIE WORD [ARG]
ctl()
{
	"$G/rigctl" "$@" || echo "not ok order to the dies: $*"
}

# how often to do what shows more the more often it is done: $1 times, $2 if
# there are other things to do
often()
{
	[ "${SCOPE:-full}" = full ] && echo "$1" || echo "$2"
}

# the device from the shell: prints a word; see guest/bs.c
bs()
{
	"$G/bs" "$@"
}

# load the module; without resets unless a job wants them (1.2 s each)
load()
{
	insmod "$KO/bar_swap.ko" first_sbr=0 "$@" && [ -c $DEV ]
}

unload()
{
	rmmod bar_swap
}

# the kernel's log of this job
klog()
{
	dmesg | sed "0,/RIG: job $JOB\$/d"
}

# config space of all dies and ports, BYTES of each, without status fields
config()
{
	"$G/pcicfg" dump "$1" "${DIES[@]}" "${PORTS[@]}"
}

# need_mod NAME...: of the kernel's own, with what they need
need_mod()
{
	local m

	for m; do
		# some kernels have it built in
		if [ -e "/sys/module/${m//-/_}" ] || [ ! -e "/run/mod/$m.ko" ]; then
			continue
		fi
		# shellcheck disable=SC2046 # words
		need_mod $(modinfo -F depends "/run/mod/$m.ko" | tr , ' ')
		insmod "/run/mod/$m.ko" || return 1
	done
}

# net PROGRAM ARG...: of Debian's packages, on their own libraries
net()
{
	local tree=$CACHE/net/usr program=$1

	shift
	"$tree/lib64/ld-linux-x86-64.so.2" \
		--library-path "$tree/lib/x86_64-linux-gnu" \
		"$tree/sbin/$program" "$@"
}

# what an unload must bring back, into files named $1.config and $1.iomem
snapshot()
{
	config "${2:-256}" >"$TMPDIR/$1.config"
	cat /proc/iomem >"$TMPDIR/$1.iomem"
}

# are snapshots $1 and $2 the same
same()
{
	diff "$TMPDIR/$1.config" "$TMPDIR/$2.config" &&
		diff "$TMPDIR/$1.iomem" "$TMPDIR/$2.iomem"
}

# From here to loud, no config write may reach a die or port: the trace is
# looked at after the boot. quiet N [CARDS], CARDS a mask of cards (all if 0)
quiet()
{
	"$G/rigbg" mark $((0x02000000 | ${2:-0} << 16 | $1))
}

loud()
{
	"$G/rigbg" mark $((0x03000000 | $1))
}

# A driver is about to let die $1 decode, which is out: the trace may have that
# one write, and the next must switch it off.
excuse()
{
	"$G/rigbg" mark $((0x04000000 | $1))
}

# acquire every die and compare a word that is different on each
six_work()
{
	local die got

	for die in 0 1 2 3 4 5; do
		got=$(bs acquire $die)
		[ "$got" = ok ] || { echo "acquire $die: $got"; return 1; }
		bs put $die 40 "d1e$die" >/dev/null || return 1
	done
	for die in 5 4 3 2 1 0; do
		got=$(bs acquire $die)
		[ "$got" = ok ] || { echo "acquire $die: $got"; return 1; }
		got=$(bs get $die 40)
		[ "$got" = "000000000000d1e$die" ] ||
			{ echo "die $die holds $got"; return 1; }
	done
}

# bind driver $2 to device $1, or fail
bind()
{
	echo "$2" >"$SYS/$1/driver_override"
	echo "$1" >"/sys/bus/pci/drivers/$2/bind"
}

unbind()
{
	echo "$1" >"$SYS/$1/driver/unbind"
	echo >"$SYS/$1/driver_override"
}

# all six dies as after power-on of a real card: no memory. The job's end heals.
all_cold()
{
	local die

	for die in 0 1 2 3 4 5; do
		ctl $die cold >/dev/null
	done
}

# A tree for the real modprobe, in the guest alone: bar_swap, and the stand-in
# of the vendor's driver in files named $1 and $1-uvm (nvidia; Debian's are
# nvidia-tesla-470, nvidia-current), with no file in /etc/modprobe.d. The end of
# the job takes it away.
vendor_tree()
{
	local name=${1:-nvidia} tmp=/run/vendor dir mods

	dir=/usr/lib/modules/$(uname -r)
	mods=$BUILD/mod-$(uname -r)
	[ -e /sys/module/overlay ] || insmod /run/mod/overlay.ko || return 1
	mkdir -p $tmp/up $tmp/work $tmp/conf
	mount -t overlay vendor /usr/lib \
		-o lowerdir=/usr/lib,upperdir=$tmp/up,workdir=$tmp/work &&
		mount --bind $tmp/conf /etc/modprobe.d || return 1
	mkdir -p "$dir/updates/dkms"
	cp "$mods/nvidia.ko" "$dir/updates/dkms/$name.ko"
	cp "$mods/nvidia-uvm.ko" "$dir/updates/dkms/$name-uvm.ko"
	cp "$KO/bar_swap.ko" "$dir/updates/"
	: >"$dir/modules.order"
	: >"$dir/modules.builtin"
	depmod
}

# the end of vendor_tree; what is loaded leaves in the order of its users
vendor_gone()
{
	local m die

	for m in nvidia_uvm nvidia; do
		[ ! -e /sys/module/$m ] || rmmod $m
	done
	for die in "${DIES[@]}"; do
		echo >"$SYS/$die/driver_override"
	done
	! mountpoint -q /etc/modprobe.d || umount /etc/modprobe.d
	! mountpoint -q /usr/lib || umount -l /usr/lib
	rm -rf /run/vendor
}

# the stand-in of the vendor's driver leaves every die while that is in, and is
# unloaded
driver_leaves()
{
	local die

	for die in 0 1 2 3 4 5; do
		[ -e "$SYS/${DIES[$die]}/driver" ] || continue
		bs acquire $die force >/dev/null
		echo "${DIES[$die]}" >"$SYS/${DIES[$die]}/driver/unbind"
	done
	[ ! -e /sys/module/nvidia ] || rmmod nvidia_uvm nvidia
}

workers_gone()
{
	! pgrep -x k80-worker
}

# keep every driver off all dies but those numbered
only()
{
	local die

	for die in 0 1 2 3 4 5; do
		case " $* " in
		*" $die "*)	echo ;;
		*)		echo rig-keep-off ;;
		esac >"$SYS/${DIES[$die]}/driver_override"
	done
}

# what /proc/driver/nvidia/touches has behind $1
touches()
{
	sed -n "s/^$1 //p" /proc/driver/nvidia/touches
}

# touches of dies that were out, told in the kernel's log of this job. A job
# that causes some on purpose puts their number into $TMPDIR/touches.
told()
{
	klog | grep -c 'nvidia: .* touch at .* found'
}

# run a command as an ordinary user of group $1
as_group()
{
	local gid=$1

	shift
	setpriv --reuid=65534 --regid="$gid" --clear-groups "$@"
}

# wait until COMMAND succeeds, for at most $1 seconds, more on a busy machine
await()
{
	local i left=$(($1 * 10 * ${SLOW:-1}))

	shift
	for ((i = 0; i < left; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# doctor PARAMETER...: k80-doctor's document of this machine, the module's
# parameters being these; in $TMPDIR/doctor
doctor()
{
	local root=$TMPDIR/root dir

	rm -rf "$root"
	mkdir -p "$root/etc/modprobe.d"
	for dir in proc sys dev; do
		ln -s /$dir "$root/$dir"
	done
	echo "options bar_swap $*" >"$root/etc/modprobe.d/slot.conf"
	"$VM/../../mount-helpers/k80-doctor" --json --root "$root" \
		>"$TMPDIR/doctor"
}

# doctor_field CHECK FIELD: of the last document
doctor_field()
{
	sed -n "s/.*{\"check\": \"$1\".*\"$2\": \"\([^\"]*\)\".*/\1/p" \
		"$TMPDIR/doctor"
}

# doctor_says CHECK [FIELD]: of this machine with no parameters
doctor_says()
{
	doctor
	doctor_field "$1" "${2:-code}"
}

# doctor_advises CHECK: the parameters of the module that the last document has
doctor_advises()
{
	sed -n "s/.*{\"check\": \"$1\".*\"options bar_swap \([^\"]*\)\".*/\1/p" \
		"$TMPDIR/doctor"
}

# doctor_agrees CODE CHECK PARAMETER...: both refuse this slot, for this reason
doctor_agrees()
{
	local code=$1 name=$2 words what

	shift 2
	case $code in
	geometry) words='bad slot: bar[0-3].*(aligned|below)' ;;
	overlap) words='bad slot: bar1 overlaps' ;;
	ram)	words='lies over System RAM' ;;
	window)	words='no host bridge window contains' ;;
	port)	words='conflicts with BAR' ;;
	*)	words='conflicts with [^B]' ;;
	esac
	what=${*:-the default slot}
	doctor "$@"
	check_is "$what: k80-doctor says $code" "$(doctor_field "$name" code)" "$code"
	if insmod "$KO/bar_swap.ko" first_sbr=0 "$@" 2>/dev/null; then
		echo "not ok $what: the module refuses it"
		unload
		return
	fi
	echo "ok $what: the module refuses it"
	check_like "$what: for that reason" "$(klog | grep bar_swap: | tail -1)" "$words"
}
