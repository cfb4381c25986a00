#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A stopped daemon: a client whose request it has not read can be killed;
# those parked end soon after SIGCONT, or after the daemon's death
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

ctl 0 pin
parked() {
	pids=()
	for i in 1 2 3; do
		"$BIN/tool" "$(die 1)/vram" r pread,0,4096 2>>"$W/err" &
		pids+=($!)
	done
	wait_waiters 1 3
}
parked
daemon=$(daemon_pid)
kill -STOP "$daemon"
sleep 0.2
"$BIN/tool" "$(die 0)/vram" r pread,0,4096 2>"$W/err" &
new=$!
sleep 0.3
kill -0 $new || fail "a stopped daemon answered"
kill -9 $new
start=$(now_ms)
if wait $new; then
	fail "a killed client ended well"
fi
soon_after "$start" "kill -9 of a client"
kill -9 "${pids[0]}"
kill -CONT "$daemon"
start=$(now_ms)
if wait "${pids[0]}"; then
	fail "a killed parked client ended well"
fi
soon_after "$start" "its end after SIGCONT"
ctl 0 unpin
wait "${pids[1]}" "${pids[2]}"

ctl 0 pin
parked
kill -STOP "$daemon"
kill -9 "$daemon"
start=$(now_ms)
for p in "${pids[@]}"; do
	if wait "$p"; then
		fail "a client of a dead daemon ended well"
	fi
done
soon_after "$start" "the clients' end after the daemon's"
umount "$M"
