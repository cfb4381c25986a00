#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Ctrl-C in a terminal ends dd, cat and cp that wait for a die, at once
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

ctl 0 pin
somebody_waits() {
	[ $(($(number 1 waiters) + $(number 2 waiters))) != 0 ]
}
# a new session, where SIGINT is not ignored as it is in a background job
interrupted() {
	local start pid
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" <&0 >"$W/out" 2>"$W/log" &
	pid=$!
	await somebody_waits || fail "did not wait: $*: $(cat "$W/log")"
	start=$(now_ms)
	kill -INT $pid
	if wait $pid; then
		fail "ended well: $*"
	fi
	soon_after "$start" "$*"
}
interrupted dd if="$(die 1)/vram" of="$W/x" bs=1M count=1
interrupted dd if=/dev/zero of="$(die 1)/vram" bs=1M count=1
interrupted cat "$(die 1)/vram"
interrupted cp "$(die 1)/vram" "$(die 2)/vram"
interrupted cp /bin/true "$(die 1)/vram"
interrupted busybox cat "$(die 1)/vram"
interrupted tee "$(die 1)/ctl" <<<acquire
expect_status 1 waiters 0
ctl 0 unpin
