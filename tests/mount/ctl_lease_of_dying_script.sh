#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A script that dies, even by kill -9, lets its lease go
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

bash -c "exec 3>'$(die 0)/ctl'; echo lease >&3; echo >'$W/ready'; exec sleep 60" &
pid=$!
while [ ! -s "$W/ready" ]; do
	sleep 0.05
done
expect_status 0 hold lease
expect_equal "$(status 0 holder | cut -d' ' -f1)" "$pid" "holder"
"$BIN/tool" "$(die 1)/vram" r pread,0,4096 &
reader=$!
wait_waiters 1 1
kill -0 $reader || fail "the reader of die 1 did not wait"
kill -9 $pid
start=$(now_ms)
wait $reader
soon_after "$start" "the reader"
expect_status 0 hold none
