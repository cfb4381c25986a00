#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Told to stop while requests wait, the daemon ends the hold that they wait for,
# answers them all and ends, on either transport
# alone
. "$(dirname "$0")/lib.sh"
need_sim "holds"

end_with_waiters() {
	local pids=() pid daemon i
	mount_sim wait=60000 "$@"
	daemon=$(daemon_pid)
	ctl 0 pin
	for ((i = 0; i < 12; i++)); do
		t "$(die $((1 + i % 3)))/vram" rw "pread,$((i * 4096)),4096" \
			2>"$W/err$i" &
		pids+=($!)
	done
	dd if=/dev/zero of="$(die 4)/vram" bs=1M count=1 conv=notrunc \
		2>"$W/err-dd" &
	pids+=($!)
	sleep 0.5
	[ "$(number 1 waiters)" -gt 0 ] || fail "nobody waits"
	kill -TERM "$daemon"
	for ((i = 0; i < 50; i++)); do
		[ -d "/proc/$daemon" ] || break
		sleep 0.1
	done
	[ "$i" -lt 50 ] || fail "the daemon is still there: $*"
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
