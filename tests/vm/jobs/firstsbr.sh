# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# When a first acquire resets a die's bus, and when not.
# time: 150
mods=$BUILD/mod-$(uname -r)

# what die $1's memory begins with, behind the module's back
word()
{
	ctl "$1" peek 0 8
}

if insmod "$KO/bar_swap.ko" first_sbr=2 2>/dev/null; then
	echo "not ok first_sbr=2 is refused"
	unload
else
	echo "ok first_sbr=2 is refused"
fi
check_like "with a line that says why" "$(klog)" 'first_sbr: "2" is not auto'

ctl 3 forget >/dev/null
ctl 3 poke 0 1122334455667788 >/dev/null
check "loads without a word of it" insmod "$KO/bar_swap.ko"
check_is "auto: a first acquire" "$(bs acquire 3)" ok
check_is "auto: makes no reset" "$(bs info 3 resets)" 0
check_is "auto: the memory is as it was" "$(word 3)" "ok 1122334455667788"

ctl 4 mute 1 >/dev/null
gen=$(bs info 4 generation)
check_is "auto: registers that are all-ones: acquire" "$(bs acquire 4)" ok
check_is "auto: after one reset" "$(bs info 4 resets)" 1
check_is "auto: which does not count" "$(bs info 4 generation)" "$gen"
check_is "auto: it is alive" "$(bs info 4 alive)" 1
check_like "auto: the log says so" "$(klog)" 'die 4: trying again after a reset'

ctl 5 mute 9 >/dev/null
check_is "auto: a reset that does not help: EIO" "$(bs acquire 5)" EIO
check_is "auto: one was made" "$(bs info 5 resets)" 1
check_is "auto: it is dead" "$(bs info 5 state)" dead
check_is "auto: the slot is empty" "$(bs query)" none
check_is "auto: EIO again" "$(bs acquire 5)" EIO
check_is "auto: with no second reset" "$(bs info 5 resets)" 1
ctl 5 heal >/dev/null

insmod "$mods/rigcfg.ko" bus=4 devfn=0 reg=0x18
check_is "auto: BAR1 does not read back: EIO" "$(bs acquire 1)" EIO
check_is "auto: a reset was tried" "$(bs info 1 resets)" 1
rmmod rigcfg
insmod "$mods/rigcfg.ko" bus=2 devfn=$((0x40)) reg=0x24
check_is "auto: a port's window does not read back: EIO" "$(bs acquire 0)" EIO
check_is "auto: no reset, for it is not the die" "$(bs info 0 resets)" 0
rmmod rigcfg
check_is "auto: works when it does" "$(bs acquire 0)" ok
check_is "auto: still without a reset" "$(bs info 0 resets)" 0
check "auto: all six work" six_work
check "unloads" unload

ctl 3 mute 1 >/dev/null
check "loads with first_sbr=0" load
check_is "0: all-ones: EIO" "$(bs acquire 3)" EIO
check_is "0: no reset" "$(bs info 3 resets)" 0
ctl 3 heal >/dev/null
check_is "0: works when it answers" "$(bs acquire 3)" ok
check "unloads" unload

ctl 3 forget >/dev/null
ctl 3 poke 0 1122334455667788 >/dev/null
check "loads with first_sbr=1" load first_sbr=1
check_is "1: not waited for with nowait" "$(bs acquire 3 nowait)" EBUSY
check_is "1: acquire" "$(bs acquire 3)" ok
check_is "1: after one reset" "$(bs info 3 resets)" 1
check_is "1: the memory is lost" "$(word 3)" "ok 0000000000000000"
bs acquire 2 >/dev/null
check_is "1: a second acquire" "$(bs acquire 3)" ok
check_is "1: makes no reset" "$(bs info 3 resets)" 1
insmod "$mods/rignobr.ko" bus=4 devfn=0
check_is "1: a bus that cannot be reset: acquire" "$(bs acquire 1)" ok
check_is "1: goes on without" "$(bs info 1 resets)" 0
check_is "1: asked for a reset: EIO" "$(bs acquire 1 sbr)" EIO
check_like "1: and why" "$(bs info 1 last_error)" 'cannot be reset'
rmmod rignobr
check_is "1: a reset can be had again" "$(bs acquire 1 sbr)" ok
check "unloads" unload
