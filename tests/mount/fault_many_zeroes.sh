#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ten commands that clear a whole die delay neither a look, a short read, a
# signal nor the daemon's end
. "$(dirname "$0")/lib.sh"
need_sim "clears that take as long as a card's"
export LD_PRELOAD=$BIN/slow_clear.so
VRAM=12G mount_sim
unset LD_PRELOAD
daemon=$(daemon_pid)

ctl 0 pin
zeroes=()
for ((i = 0; i < 10; i++)); do
	echo zero 1<>"$(die 0)/ctl" 2>"$W/zero$i" &
	zeroes+=($!)
done
is_clearing() {
	[ "$(status 0 progress)" != none ]
}
await is_clearing || fail "nothing is cleared"
for d in 0 1 3; do
	soon stat "$(die $d)/vram" >"$W/log"
	soon cat "$(die $d)/status" >"$W/log"
done
soon t "$(die 0)/vram" r pread,0,4096
[ "$(status 0 progress)" != none ] || fail "nothing was being cleared"
soon t "$(die 0)/ctl" w alarm,300 "puts,zero\n:EINTR"
kill -TERM "$daemon"
start=$(now_ms)
for p in "${zeroes[@]}"; do
	if wait "$p"; then
		fail "a zero of a die that was not cleared succeeded"
	fi
done
soon_after "$start" "the zeroes' end"
