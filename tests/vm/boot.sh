# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by run.sh: one boot of the emulated machine.
: "${vm:?} ${cache:?} ${build:?}"
qemu_pid='' gk_pid=''

# The machine: three cards, each a root port, a switch, two dies. Linux's
# bus numbers (pci=assign-busses): dies 03 04 07 08 0b 0c:00.0, upstream ports
# 01 05 09:00.0, downstream ports 02 06 0a:08.0 and 10.0.
# boot_topology DIR OPTION...: sets the array topo
boot_topology()
{
	local dir=$1 hotplug=off up=x3130-upstream card die=0 slot

	shift
	case " $* " in
	*" pciehp "*)	hotplug=on ;;
	esac
	# the one switch of QEMU whose upstream port has a BAR of its own
	case " $* " in
	*" upbar "*)	up=cxl-upstream ;;
	esac
	topo=()
	for card in 0 1 2; do
		topo+=(-device "pcie-root-port,id=rp$card,bus=pcie.0,addr=$((card + 4)).0,chassis=$((card + 1)),slot=$((card + 1)),hotplug=$hotplug"
			-device "$up,id=up$card,bus=rp$card")
		for slot in 8 10; do
			topo+=(-device "xio3130-downstream,id=dn$die,bus=up$card,addr=$slot.0,chassis=$((16 + die)),slot=$((16 + die)),hotplug=$hotplug"
				-device "$(boot_vfio "die$die" "dn$die" 00.0 "$dir")")
			die=$((die + 1))
		done
	done
	topo+=(-device "$(boot_vfio bg pcie.0 1e.1 "$dir")")
}

# one late answer would cut a die off for good: hence the long timeout
boot_vfio()
{
	printf '{"driver":"vfio-user-pci","id":"%s","bus":"%s","addr":"%s",' \
		"$1" "$2" "$3"
	printf '"rombar":0,"x-msg-timeout":60000,'
	printf '"socket":{"type":"unix","path":"%s/%s.sock"}}' "$4" "$1"
}

# What an option of a job's "# rig:" line adds to the command line.
# The 64-bit window of the host bridge must contain the slot, and 1 GiB below
# it take virtio's BARs: 47 GiB to 64 GiB. Without it ("hole0") firmware gives
# no 64-bit window at all, as on the board this is for.
boot_options()
{
	local hole=1 opt

	extra=()
	smp=2
	for opt; do
		case $opt in
		hole0 | dsdt)
			hole=0 ;;
		smp1)	smp=1 ;;
		pciehp)	extra+=(-global
				ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off) ;;
		foreign)
			# shellcheck disable=SC2054 # QEMU's commas
			extra+=(-device
				"xio3130-downstream,id=dnx,bus=up0,addr=11.0,chassis=40,slot=40"
				-device virtio-rng-pci,bus=dnx) ;;
		hotslot)
			# an empty hot-plug port beside the dies, and QEMU's
			# monitor on the third serial port: see guest/rigmon.c
			# shellcheck disable=SC2054,SC2154 # QEMU's commas; boot's
			extra+=(-global
				ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off
				-device
				"xio3130-downstream,id=dnx,bus=up0,addr=11.0,chassis=40,slot=40"
				-chardev
				"socket,id=mon,path=$dir/mon.sock,server=on,wait=off"
				-mon "chardev=mon,mode=readline"
				-chardev "socket,id=guestmon,path=$dir/mon.sock"
				-serial chardev:guestmon) ;;
		upbar)	;;
		*)	echo "boot.sh: unknown rig option $opt" >&2
			return 1 ;;
		esac
	done
	if [ $hole = 1 ]; then
		extra+=(-m "1G,slots=1,maxmem=43G"
			-global q35-pcihost.pci-hole64-size=17G)
	else
		extra+=(-m 1G -global q35-pcihost.pci-hole64-size=0)
	fi
}

# boot_initrd KERNEL: sets initrd
boot_initrd()
{
	local tmp m

	initrd=$build/initrd-$1
	[ "$initrd" -ot "$vm/guest/init" ] || [ "$initrd" -ot "$cache/kernel-$1/ok" ] ||
		return 0
	tmp=$(mktemp -d)
	mkdir -p "$tmp/bin" "$tmp/mod"
	cp "$cache/bin/busybox" "$tmp/bin/"
	cp "$vm/guest/init" "$tmp/init"
	find -L "$cache/kernel-$1/modules" -name '*.ko' -exec cp -t "$tmp/mod" {} +
	for m in "$tmp"/mod/*.ko; do
		strip --strip-debug "$m"
	done
	(cd "$tmp" && find . | "$cache/bin/busybox" cpio -o -H newc) \
		>"$initrd.new" 2>/dev/null
	mv "$initrd.new" "$initrd"
	rm -rf "$tmp"
}

# The board of "hole0" with the table that gives the host bridge a window: what
# a user of such a board has to do. Dumps the DSDT in a boot of its own, edits
# it, and leaves dsdt_initrd. boot_dsdt KERNEL DIR
boot_dsdt()
{
	local work=$2/dsdt qemu_dir=$dir

	dir=$work
	mkdir -p "$work/out" "$work/kernel/firmware/acpi"
	: >"$work/out/plan"
	boot "$1" "$work" 60 hole0 || return 1
	"$cache/bin/iasl" -p "$work/dsdt" -d "$work/out/DSDT" &&
		python3 "$vm/dsdt.py" "$work/dsdt.dsl" &&
		"$cache/bin/iasl" -p "$work/kernel/firmware/acpi/dsdt" -tc \
			"$work/dsdt.dsl" || return 1
	rm -f "$work"/kernel/firmware/acpi/*.hex
	boot_initrd "$1"
	dsdt_initrd=$work/initrd
	# the kernel looks for tables in an uncompressed archive at the front
	(cd "$work" && find kernel | "$cache/bin/busybox" cpio -o -H newc |
		cat - "$initrd") >"$dsdt_initrd"
	dir=$qemu_dir
}

# QEMU 11.1 runs on its own libraries, by its own loader
boot_qemu()
{
	local t=$cache/qemu lib=$cache/qemu/usr/lib/x86_64-linux-gnu

	QEMU_MODULE_DIR=$lib/qemu exec "$t/usr/lib64/ld-linux-x86-64.so.2" \
		--library-path "$lib" --preload "$build/notrim.so" \
		"$t/usr/bin/qemu-system-x86_64" \
		-L "$t/usr/share/qemu" -L "$t/usr/share/seabios" "$@"
}

boot_wait_ready()
{
	for _ in $(seq 100); do
		! grep -q ready "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	echo "boot.sh: gk210d does not come up" >&2
	return 1
}

# boot KERNEL DIR LIMIT OPTION...: run the jobs in DIR/out/plan in one guest.
# Leaves in DIR: serial, qemu.err, trace, log (the dies'), out/. Returns 0 if
# the guest went off by itself; it is ended if no job of it ends for LIMIT
# seconds, which boot_progress() of run.sh is asked.
boot()
{
	local kernel=$1 dir=$2 limit=$3 smp rc initrd
	local -a topo extra

	shift 3
	boot_topology "$dir" "$@"
	boot_options "$@" || return 1
	boot_initrd "$kernel"
	case " $* " in
	*" dsdt "*)	initrd=$dsdt_initrd ;;
	esac
	"$build/gk210d/gk210d" -d "$dir" >"$dir/gk210d.out" 2>&1 &
	gk_pid=$!
	boot_wait_ready "$dir/gk210d.out" || return 1
	# a host that is busy is no broken timer: no_timer_check
	# emulated, "rep movsb" is a loop over bytes: without these bits the
	# kernel copies and clears by words, three times as fast
	boot_qemu -M q35,accel=tcg \
		-cpu max,phys-bits=36,erms=off,fsrm=off,fsrs=off,fzrm=off -smp "$smp" \
		-nographic -no-reboot -nodefaults -bios qboot.rom \
		-serial "file:$dir/serial" \
		-chardev "socket,id=ctl,path=$dir/ctl.sock" -serial chardev:ctl \
		-kernel "$cache/kernel-$kernel/vmlinux" \
		-initrd "$initrd" \
		-append "no_timer_check console=ttyS0 quiet panic=-1 oops=panic pci=assign-busses rig=$vm build=$build cache=$cache" \
		-virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$dir/out,mount_tag=out,security_model=none" \
		-d trace:pci_cfg_write -D "$dir/trace" \
		"${topo[@]}" "${extra[@]}" </dev/null >"$dir/qemu.err" 2>&1 &
	qemu_pid=$!
	boot_await $qemu_pid "$limit" && rc=0 || rc=$?
	boot_end
	return $rc
}

# boot_await PID SECONDS: until the process ends, or there is no progress for
# that long
boot_await()
{
	local until=$((SECONDS + $2))

	while kill -0 "$1" 2>/dev/null; do
		! boot_progress || until=$((SECONDS + $2))
		[ $SECONDS -lt $until ] || return 1
		sleep 0.2
	done
}

# end what this boot started; also run from run.sh's exit trap
boot_end()
{
	local pid

	for pid in $qemu_pid $gk_pid; do
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	qemu_pid='' gk_pid=''
	# sparse, but what was written is kept only on request
	[ -n "${K80_KEEP:-}" ] || rm -f "$dir"/*.vram "$dir"/*.sock
}
