# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Somebody else changes the die that is in, or its ports.
# time: 120
mods=$BUILD/mod-$(uname -r)
d3=${DIES[3]}
insmod "$mods/rigdrv.ko"
check "loads" load
chmod 666 "$DEV"

# NAME BDF REGISTER WIDTH VALUE
while read -r what bdf reg width val; do
	bs acquire 3 >/dev/null
	check_is "$what: untouched, an acquire is a no-op" "$(bs acquire 3)" ok
	old=$("$G/pcicfg" "$bdf" "$reg" "$width")
	"$G/pcicfg" "$bdf" "$reg" "$width" "$val"
	check_is "$what: noticed at the next acquire" "$(bs acquire 3)" EIO
	check_like "$what: last_error has place, register and values" \
		"$(bs info 3 last_error)" \
		"$bdf.*changed.* 0x0?$reg wanted 0x[0-9a-f]+ got 0x[0-9a-f]+"
	check_is "$what: the slot is empty" "$(bs query)" none
	# windows are written at each acquire
	[ "$reg" != 4 ] || "$G/pcicfg" "$bdf" "$reg" "$width" "$old"
	check_is "$what: then it works again" "$(bs acquire 3)" ok
done <<'E'
root-port-window 0000:00:05.0 24 4 0001fff1
root-port-memory 0000:00:05.0 20 4 0000fff0
root-port-COMMAND 0000:00:05.0 4 2 0
upstream-limit 0000:05:00.0 2c 4 0
downstream-base 0000:06:10.0 28 4 ffffffff
downstream-COMMAND 0000:06:10.0 4 2 4
E

# a driver that has decode off for a moment
bs acquire 3 >/dev/null
check "a driver binds" bind "$d3" rigdrv
"$G/pcicfg" "$d3" 4 2 0
check_is "with its decode off, acquire by a user is EBUSY" \
	"$(as_group 65534 "$G/bs" acquire 3)" EBUSY
check_is "the die stays" "$(bs query)" 3
check_like "and its driver's region" "$(cat /proc/iomem)" \
	'c00000000-fffffffff : rigdrv'
check_is "FORCE may take it out" "$(bs acquire 3 force)" EIO
check_is "and bring it back" "$(bs acquire 3 force)" ok
"$G/pcicfg" "$d3" 4 2 6
check "the driver leaves a bus master" unbind "$d3"
check_is "which it is no longer" \
	$(($(printf '%d' "0x$("$G/pcicfg" "$d3" 4 2)") & 4)) 0
check_is "an acquire is a no-op" "$(bs acquire 3)" ok

# a reset that goes through sysfs
ctl 3 forget >/dev/null
bs put 3 0 1234 >/dev/null
gen=$(bs info 3 generation)
check "somebody resets the die that is in" sh -c "echo 1 >$SYS/$d3/reset"
check_like "reset: a check tells by the generation" "$(bs check 3)" \
	"^1 1 $((gen + 1)) "
check_is "reset: acquire" "$(bs acquire 3)" ok
check_is "reset: once is once" "$(bs info 3 generation)" $((gen + 1))
check "somebody resets it again" sh -c "echo 1 >$SYS/$d3/reset"
check_is "reset: an acquire finds it too" "$(bs acquire 3)" ok
check_is "reset: by the generation" "$(bs info 3 generation)" $((gen + 2))
check_is "another die comes in" "$(bs acquire 0)" ok
check "somebody resets it while it is out" sh -c "echo 1 >$SYS/$d3/reset"
check_is "reset: it comes in" "$(bs acquire 3)" ok
check_is "reset: in its next generation" "$(bs info 3 generation)" $((gen + 3))
check_is "a reset of our own" "$(bs acquire 3 sbr)" ok
check_is "counts once" "$(bs info 3 generation)" $((gen + 4))
check_is "two swaps later" "$(bs acquire 0) $(bs acquire 3)" "ok ok"
check_is "nothing is lost" "$(bs info 3 generation)" $((gen + 4))
ctl 3 heal >/dev/null

# a stop and a continue while it is reset
resets=$(bs info 3 resets)
ctl 3 late 5000 >/dev/null
"$G/bs" acquire 3 sbr >"$TMPDIR/said" &
pid=$!
await 20 sh -c "[ \"\$($G/bs query)\" = none ]"
sleep 0.3
kill -STOP $pid
sleep 0.3
kill -CONT $pid
wait $pid
await 100 sh -c "[ \"\$($G/bs acquire 0 nowait)\" = ok ]"
check_is "a call that is stopped and goes on makes no second reset" \
	"$(bs info 3 resets)" $((resets + 1))
check_is "it is told" "$(cat "$TMPDIR/said")" EINTR
ctl 3 heal >/dev/null
check "all six work" six_work
check "unloads" unload
rmmod rigdrv
