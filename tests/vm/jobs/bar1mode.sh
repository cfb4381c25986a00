# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# BAR1 through the GPU's MMU, bus mastership, and memory that is not there.
# time: 90
d0=${DIES[0]}
mods=$BUILD/mod-$(uname -r)

master()
{
	echo $((0x$("$G/pcicfg" "$d0" 4 2) & 4))
}

# "window W pramin P" since the last call
words()
{
	local now w p

	now=$(ctl 0 words)
	read -r _ _ w _ p <<<"$now"
	echo "window $((w - ${last_w:-0})) pramin $((p - ${last_p:-0}))"
	last_w=$w last_p=$p
}

check "loads" load
ctl 0 virtual >/dev/null
check_is "BAR1 is virtual and no driver there: acquire" "$(bs acquire 0)" ok
check_is "makes it physical" "$(bs info 0 bar1_mode)" physical
check_is "there is memory" "$(bs put 0 0 d0)" ok

insmod "$mods/rigdrv.ko"
check "a driver binds" bind "$d0" rigdrv
ctl 0 virtual >/dev/null
"$G/pcicfg" "$d0" 4 2 6
check "it leaves BAR1 virtual and DMA on" unbind "$d0"
check_is "BAR1 is physical" "$(bs info 0 bar1_mode)" physical
check_is "the die is no bus master" "$(master)" 0
check_is "the memory is there" "$(bs get 0 0)" 00000000000000d0

"$G/pcicfg" "$d0" 4 2 6
check_is "somebody makes it bus master: acquire" "$(bs acquire 0)" ok
check_is "ends that" "$(master)" 0
ctl 0 virtual >/dev/null
check_is "somebody makes BAR1 virtual: acquire" "$(bs acquire 0)" ok
check_is "ends that, too" "$(bs info 0 bar1_mode)" physical
check_is "the memory is still there" "$(bs get 0 0)" 00000000000000d0

bs release 0 >/dev/null
ctl 0 virtual >/dev/null
ctl 0 stuckmode >/dev/null
check_is "a mode that cannot be changed: acquire" "$(bs acquire 0)" ok
check_is "says so" "$(bs info 0 bar1_mode)" virtual
bs release 0 >/dev/null
ctl 0 heal >/dev/null

words >/dev/null
bs acquire 0 >/dev/null
# the window is moved, moved back, and left at the mark of a reset
check_is "asked for its memory, a die gets a word and it back" "$(words)" \
	"window 3 pramin 2"
bs release 0 >/dev/null
ctl 0 poke 0 ffffffffffffffff >/dev/null
check_is "all-ones is data where there is memory" \
	"$(bs acquire 0; bs info 0 state; bs get 0 0)" \
	"$(printf 'ok\nactive\nffffffffffffffff')"
bs release 0 >/dev/null

ctl 0 nowindow >/dev/null
words >/dev/null
check_is "a window register that reads 0xbad0: acquire" "$(bs acquire 0)" ok
check_is "what it read is not written back" "$(words)" "window 2 pramin 2"
bs release 0 >/dev/null
ctl 0 heal >/dev/null

ctl 0 cold >/dev/null
words >/dev/null
check_is "cold memory: acquire" "$(bs acquire 0)" ok
check_is "state" "$(bs info 0 state)" no_vram
check_is "what PRAMIN read is not written back" "$(words)" "window 3 pramin 1"
check_like "last_error says why and what to do" "$(bs info 0 last_error)" \
	'0xbad0ac01.*not initialised.*k80-owner warm 0'
bs release 0 >/dev/null
ctl 0 heal >/dev/null
check_is "warm again: acquire" "$(bs acquire 0)" ok
check_is "state" "$(bs info 0 state)" active
check "unloads" unload
