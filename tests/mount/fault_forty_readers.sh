#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Forty readers parked on dies that are pinned out hold nobody else up
# alone
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
sleep 0.5
[ "$(status 1 waiters)" -gt 0 ] || fail "nobody waits for die 1"
for i in 1 2 3; do
	within 1000 t "$(die 0)/vram" rw verify,0,1M,1 pwrite,2M,4096,1 fsync
	within 1000 stat "$(die 1)/vram" >"$W/log"
	within 1000 cat "$(die 1)/status" "$M/status" >"$W/log"
	within 1000 ls -l "$(die 1)" >"$W/log"
	within 1000 t "$(die 1)/vram" r+nonblock pread,0,1:EBUSY
done
start=$(now_ms)
ctl 0 unpin
for p in "${pids[@]}"; do
	wait "$p"
done
[ $(($(now_ms) - start)) -lt 3000 ] || fail "the readers were served late"
expect_status 1 waiters 0
