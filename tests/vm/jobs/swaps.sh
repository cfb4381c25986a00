# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Six dies with different data, four processes, random turns with leases.
# time: 240
# check: yes
check "loads" load
"$G/swaps" "$(often 1000 150)" 4 "$(date +%s)"
# the host's side of the memory
for die in 0 1 2 3 4 5; do
	bs acquire $die >/dev/null
	bs put $die 200000040 "abcdef000000000$die" >/dev/null
	check_is "die $die's memory, seen from the host" \
		"$(ctl $die peek 200000040 8)" "ok 0${die}00000000efcdab"
	ctl $die poke 200000048 "0123456789abcd0$die" >/dev/null
	check_is "die $die's memory, written from the host" \
		"$(bs get $die 200000048)" "0${die}cdab8967452301"
done
check "unloads" unload
