# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the kernel's log tells of a load, of swaps, and, asked for, of writes.
# time: 60
check "loads" load verbose=1
for die in 0 1 2 3 4 5; do
	check_like "a line of die $die" "$(klog)" \
		"bar_swap: die $die: ${DIES[die]} below 0000:00:0[456].0 .* BAR0 16 MiB, BAR1 16384 MiB, BAR3 32 MiB, idle"
done
check_like "its chain" "$(klog)" \
	'die 3: .* below 0000:00:05.0 0000:05:00.0 0000:06:10.0,'
check_like "the slot is empty" "$(klog)" \
	'bar_swap: 6 dies of 12884901888 bytes, slot empty: .*0xc00000000'
bs acquire 0 >/dev/null
check_like "a line a swap" "$(klog)" 'bar_swap: die 0 in'
bs acquire 3 >/dev/null
check_like "of one for another" "$(klog)" 'bar_swap: die 0 out, die 3 in'
bs acquire 3 >/dev/null
bs release 3 >/dev/null
check_like "and a release" "$(klog)" 'bar_swap: die 3 out'
check_is "none for what is no swap" \
	"$(klog | grep -cE 'bar_swap: die [0-9] (in|out)')" 3
check "unloads" unload

echo "RIG: quiet swaps" >/dev/kmsg
check "loads" load
bs acquire 0 >/dev/null
bs acquire 3 >/dev/null
check_is "without verbose a swap is no news" \
	"$(dmesg | sed '0,/RIG: quiet swaps$/d' | grep -cE 'die [0-9] (in|out)')" 0
control=/sys/kernel/debug/dynamic_debug/control
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
if [ -w $control ]; then
	echo 'module bar_swap +p' >$control
	bs acquire 4 sbr >/dev/null
	log=$(dmesg | sed '0,/RIG: quiet swaps$/d')
	check_like "pr_debug before a write to a die" "$log" \
		"${DIES[4]}: BAR1 0x14 <- 0x"
	check_like "to a port" "$log" '0000:00:06.0: memory window 0x20 <- 0x'
	check_like "and before a reset" "$log" "${DIES[4]}: bus reset"
else
	echo "skip pr_debug: this kernel has no dynamic debug"
fi
check "unloads" unload
