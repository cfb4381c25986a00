# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Switches whose upstream port has a BAR of its own, as a PEX 8747 has.
# rig: upbar
# time: 60
up=0000:01:00.0
bar=$(sed -n "s/^ *\([0-9a-f]*\)-[0-9a-f]* : $up\$/\1/p" /proc/iomem | head -1)
check_like "the port has a BAR ($bar)" "$bar" '^[0-9a-f]{8}$'
snapshot before
# a slot in its card's own windows, BAR3 over the port's BAR, BAR0 below
bar3=$((0x$bar & ~0x1ffffff))
slot=("bar3=$bar3" "bar0=$((bar3 - 0x1000000))")
echo "RIG: over the port" >/dev/kmsg
quiet 1
if insmod "$KO/bar_swap.ko" first_sbr=0 "${slot[@]}" 2>/dev/null; then
	loud 1
	echo "not ok a slot over the port's BAR is refused"
	rmmod bar_swap
else
	loud 1
	echo "ok a slot over the port's BAR is refused"
	check_like "by name" "$(dmesg | sed '0,/RIG: over the port$/d')" \
		"BAR0.*$up"
fi
doctor_agrees port slot-bar0-bar3 "${slot[@]}"
check "the default slot loads" load
check "all six work" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after
