# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A driver that leaves while its die is out: an error, and no harm.
# time: 60
# alone: yes
mods=$BUILD/mod-$(uname -r)
insmod "$mods/rigdrv.ko"
check "loads" load
check_is "die 0 is in" "$(bs acquire 0)" ok
check "a driver that claims BAR1 binds" bind "${DIES[0]}" rigdrv
check_is "FORCE takes the die out" "$(bs acquire 3 force)" ok
unbind "${DIES[0]}"
check_like "the kernel log has an error that says what to do" "$(klog)" \
	'bar_swap.*acquire'
check_is "other dies work" "$(bs acquire 4)" ok
check_is "die 0 works" "$(bs acquire 0)" ok
check "unloads" unload
