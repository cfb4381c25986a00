# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Hot removal of a die, adoption, removal of a switch.
# time: 100
# alone: yes
snapshot before

remove()
{
	echo 1 >"$SYS/$1/remove"
}

check "loads" load
gen=$(bs info 2 generation)
check "an idle die is removed" remove "${DIES[2]}"
check_is "idle: acquire is ENODEV" "$(bs acquire 2)" ENODEV
check_is "idle: it is dead" "$(bs info 2 state)" dead
check_is "idle: its sibling works" "$(bs acquire 3)" ok
check_is "idle: another card works" "$(bs acquire 0)" ok
check "rescan" sh -c "echo 1 >/sys/bus/pci/rescan"
check_is "it is adopted again" "$(bs acquire 2)" ok
check_is "with the next generation" "$(bs info 2 generation)" $((gen + 1))
check "all six work" six_work

bs acquire 3 >/dev/null
"$G/bs" acquire 3 hold lease >"$TMPDIR/hold" &
holder=$!
await 5 grep -q held "$TMPDIR/hold"
check "the active die is removed, leased" remove "${DIES[3]}"
check_is "active: the slot is empty" "$(bs query)" none
check_is "active: acquire is ENODEV" "$(bs acquire 3 nowait)" ENODEV
check_is "active: release is ENODEV" "$(bs release 3)" ENODEV
check_is "active: its memory is SIGBUS" "$(bs get 3 0)" BUS
ctl 5 gone >/dev/null
check_is "active: acquire of a dead die is EIO" \
	"$(timeout $((20 * SLOW)) "$G/bs" acquire 5)" EIO
check_is "active: the slot's place is held" \
	"$(grep -c ' : bar_swap$' /proc/iomem)" 2
ctl 5 heal >/dev/null
check_is "active: another card works" "$(timeout $((20 * SLOW)) "$G/bs" acquire 4)" ok
kill $holder
wait $holder 2>/dev/null
check_is "active: its sibling works" "$(bs acquire 2)" ok
echo 1 >/sys/bus/pci/rescan
check_is "active: adopted again" "$(bs acquire 3)" ok
check_like "active: with its memory" "$(bs get 3 40)" d1e3

"$G/copyloop" 5 >"$TMPDIR/copy" &
await 10 grep -q copying "$TMPDIR/copy"
check "a die is removed while a copy runs" remove "${DIES[5]}"
wait $!
# in the copy, or in the check after a chunk
check_like "in a copy: it ends, by SIGBUS or ENODEV" \
	"$(tail -1 "$TMPDIR/copy")" '^(BUS|ENODEV)$'
check_is "in a copy: another card works" "$(bs acquire 0)" ok
echo 1 >/sys/bus/pci/rescan
check "in a copy: all six work after a rescan" six_work
check "unloads" unload
snapshot after
check "everything is as before" same before after

check "loads" load
check_is "die 2 is in" "$(bs acquire 2)" ok
"$G/copyloop" 2 >"$TMPDIR/copy" &
await 10 grep -q copying "$TMPDIR/copy"
check "its upstream port is removed while a copy runs" remove 0000:05:00.0
wait $!
check_like "port: the copy ends, by SIGBUS or ENODEV" \
	"$(tail -1 "$TMPDIR/copy")" '^(BUS|ENODEV)$'
for die in 2 3; do
	check_is "port: die $die is ENODEV" "$(bs acquire $die)" ENODEV
	check_is "port: die $die is dead" "$(bs info $die state)" dead
done
for die in 0 1 4 5; do
	check_is "port: die $die works" "$(bs acquire $die)" ok
done
check "port: unloads" unload
# what remains of that card is its root port, empty
grep -vE '0000:(05|06|07|08):|PCI Bus 0000:0[678]' "$TMPDIR/before.iomem" \
	>"$TMPDIR/want"
grep -vE '0000:(05|06|07|08):|PCI Bus 0000:0[678]' /proc/iomem >"$TMPDIR/got"
check "port: iomem is as before less the removed devices" \
	diff "$TMPDIR/want" "$TMPDIR/got"
echo 1 >/sys/bus/pci/rescan
check "port: after a rescan the module loads" load
check "port: and all six work" six_work
check "unloads" unload
