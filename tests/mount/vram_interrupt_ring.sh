#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Work of a program's io_uring ring is no signal: what waits for the slot goes on
# waiting, and ends when its turn comes. A signal ends the wait all the same,
# before such work and after it.
. "$(dirname "$0")/lib.sh"
need_slot "waits for the slot"
mount_sim

"$BIN/ring" "$(die 0)/vram" read >"$W/out" || {
	[ $? -eq 77 ] && skip "no io_uring"
	fail "ring: $(cat "$W/out")"
}
expect_equal "$(cat "$W/out")" "done" "nothing to wait for"
for what in read write; do
	ctl 1 pin
	"$BIN/ring" "$(die 0)/vram" $what >"$W/out" &
	pid=$!
	sleep 0.5
	expect_equal "$(cat "$W/out")" "" "$what beside the ring's work"
	ctl 1 unpin
	wait $pid
	expect_equal "$(cat "$W/out")" "done" "$what"
done
# a new image that is closed: its holes are cleared, by a die that is out
for ((i = 0; i < 5; i++)); do
	t "$(die 1)/vram" r pread,0,4096
	"$BIN/ring" "$(die 0)/vram" close >"$W/out"
	expect_equal "$(cat "$W/out")" "done" "close"
	t "$(die 0)/vram" r same,0,8M,0
done
ctl 1 pin
for ms in 20 160; do
	soon "$BIN/ring" "$(die 0)/vram" read $ms >"$W/out"
	expect_equal "$(cat "$W/out")" "Interrupted system call" \
		"a signal after $ms ms"
done
