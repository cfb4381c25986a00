#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# wait= counts time blocked by a hold only: waiting for one's turn never fails
. "$(dirname "$0")/lib.sh"
need_sim "slow swaps"
mount_sim sim_swap_us=150000 wait=100

pids=()
for d in 0 1 2 3 4 5; do
	for i in 1 2 3; do
		"$BIN/tool" "$(die $d)/vram" rw "pwrite,0,4096,$i" pread,0,4096 \
			sleep,50 "pread,$i,5" &
		pids+=($!)
	done
done
for p in "${pids[@]}"; do
	wait "$p"
done

# a hold that begins while a request waits for its turn: its clock starts then
sim swap_us 3000000
"$BIN/tool" "$(die 1)/ctl" w "puts,pin\n" &
pin=$!
sleep 0.3
"$BIN/tool" "$(die 2)/ctl" w "puts,acquire wait=2500\n" took,3000,20000 &
pid=$!
wait $pin
sim swap_us 0
sleep 0.5
ctl 1 unpin
wait $pid
# and a hold outlasts it
ctl 0 pin
t "$(die 1)/vram" r pread,0,1:ETIMEDOUT
ctl 0 unpin
t "$(die 1)/vram" r pread,0,1
