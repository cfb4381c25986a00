#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Told to stop while requests wait, the daemon ends the hold that they wait for,
# answers them all and ends, on either transport
. "$(dirname "$0")/lib.sh"
need_sim "holds"

# all_came PID...: each waits, or has been refused
all_came() {
	local pid d n=0
	for pid; do
		kill -0 "$pid" 2>"$W/log" || n=$((n + 1))
	done
	for d in 1 2 3 4; do
		n=$((n + $(number $d waiters)))
	done
	[ "$n" -ge $# ]
}

end_with_waiters() {
	local pids=() pid daemon i
	mount_sim wait=60000 "$@"
	daemon=$(daemon_pid)
	ctl 0 pin
	for ((i = 0; i < 12; i++)); do
		"$BIN/tool" "$(die $((1 + i % 3)))/vram" rw "pread,$((i * 4096)),4096" \
			2>"$W/err$i" &
		pids+=($!)
	done
	dd if=/dev/zero of="$(die 4)/vram" bs=1M count=1 conv=notrunc \
		2>"$W/err-dd" &
	pids+=($!)
	await all_came "${pids[@]}" || fail "not all of them wait"
	has_waiters 1 1 || fail "nobody waits"
	kill -TERM "$daemon"
	await test ! -d "/proc/$daemon" || fail "the daemon is still there: $*"
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "$*: $(cat "$W"/err*)"
	done
	is_mounted "$M" && fail "still mounted: $*"
	return 0
}

end_with_waiters
if uring_on; then
	end_with_waiters io_uring io_uring_q_depth=32
	end_with_waiters io_uring io_uring_q_depth=4
else
	echo "on /dev/fuse alone; no io_uring: $WHY_NO_URING"
fi
