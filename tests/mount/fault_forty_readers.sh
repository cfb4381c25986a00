#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Forty readers parked on dies that are pinned out hold nobody else up
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

t "$(die 0)/vram" rw fill,0,1M,1
ctl 0 pin
pids=()
for ((i = 0; i < 40; i++)); do
	"$BIN/tool" "$(die $((1 + i % (N - 1))))/vram" rw \
		"pread,$((i * 4096)),4096" &
	pids+=($!)
done
for ((d = 1; d < N; d++)); do
	wait_waiters $d $((40 / (N - 1)))
done
for i in 1 2 3; do
	soon t "$(die 0)/vram" rw verify,0,1M,1 pwrite,2M,4096,1 fsync
	soon stat "$(die 1)/vram" >"$W/log"
	soon cat "$(die 1)/status" "$M/status" >"$W/log"
	soon ls -l "$(die 1)" >"$W/log"
	soon t "$(die 1)/vram" r+nonblock pread,0,1:EBUSY
done
start=$(now_ms)
ctl 0 unpin
for p in "${pids[@]}"; do
	wait "$p"
done
soon_after "$start" "serving them"
expect_status 1 waiters 0
