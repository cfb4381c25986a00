# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The rig itself, without the module: what it shows is what a K80 shows, and
# every fault that can be ordered is seen.
# time: 60
check "six dies, moved by hand, hold their data" "$G/poke"

d=${DIES[1]}
cfg()
{
	"$G/pcicfg" "$d" "$@"
}

ctl 1 gone >/dev/null
check_is "gone: config space is all-ones" "$(cfg 0 4)" ffffffff
cfg 4 2 2
ctl 1 heal >/dev/null
check_is "healed: it is back" "$(cfg 0 4)" 102d10de
check_is "it took no write meanwhile" "$(cfg 4 2)" 0000
ctl 1 ignore 4 >/dev/null
cfg 4 2 2
check_is "ignore: COMMAND stays" "$(cfg 4 2)" 0000
ctl 1 heal >/dev/null
cfg 4 2 2
check_is "healed: COMMAND is written" "$(cfg 4 2)" 0002
cfg 4 2 0
check_like "stat counts" "$(ctl 1 stat)" '^ok resets [0-9]+ writes [1-9][0-9]* gone 0'
ctl 1 poke 100000 1122334455667788 >/dev/null
check_is "poke and peek" "$(ctl 1 peek 100000 8)" "ok 1122334455667788"
check_like "a bad order is refused" "$("$G/rigctl" 9 heal)" '^error'
check_like "an unknown one too" "$("$G/rigctl" 1 dance)" '^error'
ctl 1 cold >/dev/null
check "cold: no memory until it is trained" "$G/poke" cold
check_like "cold: trained" "$(ctl 1 stat)" 'cold 0 trainings 1$'
echo 1 >"$SYS/$d/reset"
check_like "cold: until the next bus reset" "$(ctl 1 stat)" \
	'cold 1 trainings 1$'
check_is "cold: the host sees it too" "$(ctl 1 peek 0 4)" "ok 01acd0ba"
ctl 1 heal >/dev/null
check_like "healed: it has memory" "$(ctl 1 stat)" 'cold 0 trainings 1$'
echo 1 >"$SYS/$d/reset"
check_like "healed: after a reset too" "$(ctl 1 stat)" 'cold 0 trainings 1$'
insmod "$BUILD/mod-$(uname -r)/rigcfg.ko" bus=4 devfn=0 reg=0x18
cfg 18 4 c
check_is "rigcfg swallows a BAR write" "$(cfg 18 4)" 00000000
rmmod rigcfg
cfg 18 4 c
check_is "and heals" "$(cfg 18 4)" 0000000c
cfg 18 4 0
strays=$("$G/rigctl" bg strays)
"$G/poke" stray
# this one is no fault: the driver of the jobs must expect it
echo 1 >"$TMPDIR/strays"
check_is "a write that no die claims is counted" \
	"$("$G/rigctl" bg strays | cut -d' ' -f3)" $((${strays##* } + 1))
