# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# k80fs.service with k80fs-compute.conf, under a systemd of its own, computes on
# four dies, a k80-owner beside it on two. While six kernels run the unit is
# stopped; SIGTERM is sent to all that belongs to it; it is stopped while its
# daemon sleeps, which systemd wakes; and while a file is open for longer than
# systemd has patience: the daemon, which is not killed, serves it on.
# time: 420
# ci: no
# alone: yes
top=$(cd "$VM/../.." && pwd)
# a step of the delay loop is a millisecond
export LD_LIBRARY_PATH=$top/build/cuda STANDIN_VRAM=64M STANDIN_STEP_NS=1000000
m=$TMPDIR/k80
log=$TMPDIR/owner.log
units=/run/systemd/system
long=$((8000 * ${SLOW:-1}))

# the unit as it is installed, the drop-in, and what a test needs besides
make_units()
{
	mkdir -p "$units/k80fs.service.d" "$TMPDIR/sbin" "$TMPDIR/real" &&
		cp "$top/mount-helpers/k80fs.service" "$units/" &&
		cp "$top/mount-helpers/k80fs-compute.conf" \
			"$units/k80fs.service.d/" || return 1
	printf '[Unit]\nDefaultDependencies=no\n' >"$units/test.target"
	printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' \
		"Environment=K80FS_DIR=$m K80FS_OPTIONS=compute" \
		"Environment=LD_LIBRARY_PATH=$LD_LIBRARY_PATH" \
		"Environment=STANDIN_VRAM=64M STANDIN_STEP_NS=1000000" \
		>"$units/k80fs.service.d/test.conf"
	cat >"$TMPDIR/boot.sh" <<-EOF
		set -eu
		mount -t proc proc /proc
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		mount --bind /usr/sbin "$TMPDIR/real"
		for f in "$TMPDIR"/real/*; do
			ln -s "\$f" "$TMPDIR/sbin/"
		done
		for f in mount-helpers/mount.k80fs mount-helpers/umount.k80fs \
			build/k80fs; do
			ln -sf "$top/\$f" "$TMPDIR/sbin/"
		done
		mount --bind "$TMPDIR/sbin" /usr/sbin
		[ /sbin -ef /usr/sbin ] || mount --bind "$TMPDIR/sbin" /sbin
		export container=lxc
		exec /lib/systemd/systemd --system --unit=test.target \
			--log-target=console --show-status=no \
			--default-standard-output=inherit \
			--default-standard-error=inherit
	EOF
}

# inside COMMAND...: in the namespaces of that systemd
inside()
{
	nsenter -t "$systemd" -m -p -C -r -- "$@"
}

is_up()
{
	systemd=$(pgrep -P "$unshare") && inside systemctl is-system-running
}

compute()
{
	local file=$m/die$1/compute/ctl

	shift
	inside sh -c "echo '$*' >'$file'"
}

# workers DIE...: how many processes there are for these dies, with anchors
workers()
{
	local die n=0

	for die; do
		n=$((n + $(pgrep -fc "^k80-worker $die ")))
	done
	echo $n
}

unit_is_left()
{
	[ "$(workers 0 1 2 3)" = 0 ]
}

daemon_is_left()
{
	! pgrep -x k80fs
}

# of the other; else all that it has said
said()
{
	await 60 grep -q "$1" "$log" || {
		cat "$log"
		return 1
	}
}

tell()
{
	printf '%s\n' "$@" >"$TMPDIR/fifo"
}

# six kernels, four of the unit's, while a die of the other's is in
six_run()
{
	local die

	: >"$log"
	check "$1: the unit starts" inside systemctl start k80fs
	for die in 0 1 2 3; do
		check "$1: die $die online" compute $die online
	done
	# one has the slot at a time, for longer than the other may wait
	tell 'online 4' 'online 5'
	check "$1: two of the other's online" said 'online 5: ok'
	for die in 0 1 2 3; do
		check "$1: die $die works" compute $die work 7 100 $long
	done
	tell "work 4 5 100 $long" "work 5 6 100 $long" 'swap 4' status
	check "$1: so do two of the other's" said 'status: slot 4'
	check_is "$1: four run, out of the slot" "$(inside grep -h '^state ' \
		"$m"/die{0,1,2,3}/compute/status | xargs)" \
		"state running state running state running state running"
}

# nothing of the unit is left, all of the other's; $2: what systemd says of it
ended()
{
	check "$1: its workers end" await 60 unit_is_left
	check_is "$1: the workers of the other stay" "$(workers 4 5)" 4
	check_is "$1: what systemd says" "$(for name in ActiveState Result; do
		inside systemctl show --value -p $name k80fs
	done | xargs)" "$2"
	if inside mountpoint -q "$m"; then
		echo "not ok $1: nothing is mounted"
	else
		echo "ok $1: nothing is mounted"
	fi
	check_is "$1: no touch was told" "$(told)" 0
	tell 'read 4' 'read 5'
	check "$1: the reads of the other end" said 'read 5: [PFe]'
	check_is "$1: its kernels are right" \
		"$(grep -oE 'read [45]: (PASS|FAIL|error)' "$log" | xargs)" \
		"read 4: PASS read 5: PASS"
}

if [ ! -x /lib/systemd/systemd ]; then
	echo "skip a unit is stopped: no systemd here"
	return 0
fi
all_cold
check "a tree for modprobe" vendor_tree
cp "$top/mount-helpers/bar_swap.conf" /etc/modprobe.d/
check "loads" load
check "units" make_units
unshare -mpfC --kill-child bash "$TMPDIR/boot.sh" >"$TMPDIR/systemd" 2>&1 &
unshare=$!
check "systemd runs" await 60 is_up || sed 's/^/#   /' "$TMPDIR/systemd"
systemd=$(pgrep -P $unshare)
mkfifo -m 600 "$TMPDIR/fifo"
"$top/build/k80-owner" -i "$TMPDIR/fifo" -l "$log" </dev/null &
owner=$!

six_run "stop"
check "stop: systemctl stop" inside systemctl stop k80fs
ended "stop" "inactive success"
six_run "SIGTERM to all"
check "SIGTERM to all: systemctl kill" \
	inside systemctl kill --kill-whom=all --signal=TERM k80fs
ended "SIGTERM to all" "inactive success"

six_run "asleep"
kill -STOP "$(pgrep -x k80fs)"
check "asleep: systemctl stop" inside systemctl stop k80fs
ended "asleep" "inactive success"

six_run "in use"
printf 'TimeoutStopSec=5\n' >>"$units/k80fs.service.d/test.conf"
check "in use: a shorter patience" inside systemctl daemon-reload
mkfifo "$TMPDIR/close"
inside sh -c "cd /; exec 3<'$m/status'; : >'$TMPDIR/open'; cat '$TMPDIR/close'" &
check "in use: a file is open" await 60 test -e "$TMPDIR/open"
check "in use: systemctl stop" inside systemctl stop k80fs
check "in use: its daemon is there" pgrep -x k80fs
: >"$TMPDIR/close"
check "in use: and leaves when the file is closed" await 60 daemon_is_left
ended "in use" "failed timeout"

: >"$log"
for die in 0 1 2 3; do
	tell "online $die" "work $die 3 100" "read $die" "offline $die"
done
tell shutdown
wait $owner
check_is "the next owner ends well" $? 0 || sed 's/^/#   /' "$log"
check_is "the next owner uses the dies" "$(grep -c 'read [0-3]: PASS' "$log")" 4
check "its workers end" await 60 workers_gone
check_is "no touch was told" "$(told)" 0
kill -KILL $unshare
wait $unshare 2>/dev/null
rm -rf /run/systemd
check "the driver leaves" driver_leaves
check "unloads" await 5 unload
