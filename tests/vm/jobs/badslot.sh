# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A slot that cannot be is refused at load, with no config write made.
# time: 60
snapshot before
n=0

refused()
{
	local what=$1 pattern=$2

	shift 2
	n=$((n + 1))
	echo "RIG: slot $n" >/dev/kmsg
	quiet $n
	if insmod "$KO/bar_swap.ko" "$@" 2>/dev/null; then
		loud $n
		echo "not ok $what: refused"
		rmmod bar_swap
		return
	fi
	loud $n
	echo "ok $what: refused"
	check_like "$what: says why" "$(dmesg | sed "0,/RIG: slot $n\$/d")" \
		"$pattern"
}

nic=$(grep -E '^ *[0-9a-f]{8}-.* : 0000:00:0[12]\.0' /proc/iomem |
	sed 's/^ *//' | head -1)
echo "# a device of the board: $nic"
refused "misaligned BAR1" 'bar1 .*multiple of its size' bar1=0xC10000000
refused "misaligned BAR0" 'bar0 .*multiple of its size' bar0=0xF3100000
refused "BAR1 over System RAM" 'System RAM' \
	bar1=0 bar1_size=0x20000000 vram_bytes=0x10000000
refused "BAR0 over System RAM" 'System RAM' bar0=0x10000000 bar3=0x12000000
refused "BAR1 outside the host bridge's windows" 'window contains' \
	bar1=0x400000000
refused "BAR1 above the physical address width" \
	'physical|width|address|limit' bar1=0x1000000000
dev=0x${nic%%-*}
refused "BAR0 over another device" "${nic##* : }|conflict" \
	"bar0=$(printf '0x%x' $((dev & ~0xffffff)))" \
	"bar3=$(printf '0x%x' $(((dev & ~0x1ffffff) + 0x2000000)))"
snapshot after
check "everything is as before" same before after
check "a good slot loads after all that" load
check_is "and works" "$(bs acquire 1)" ok
check "unloads" unload
