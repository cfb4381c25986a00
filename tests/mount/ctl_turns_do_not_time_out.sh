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

# a hold that begins while a request waits for its turn, in a swap of so many
# seconds: its clock starts then
hold_in_turn() {
	local ms=$(($1 * 1000)) pin pid start held
	sim swap_us 0
	ctl 0 acquire
	sim swap_us $((ms * 1000))
	"$BIN/tool" "$(die 1)/ctl" w "puts,pin\n" &
	pin=$!
	wait_waiters 1 1
	"$BIN/tool" "$(die 2)/ctl" w "puts,acquire wait=$((ms - 500))\n" \
		"took,$((ms - 500)),$((10 * ms))" 2>"$W/err" &
	pid=$!
	wait_waiters 2 1
	wait $pin
	start=$(now_ms)
	sim swap_us 0
	sleep 0.2
	ctl 1 unpin
	held=$(($(now_ms) - start))
	wait $pid && return
	echo "after a hold of $held ms: $(cat "$W/err")"
	# too slow to judge by
	[ "$held" -lt $((ms / 2)) ] && fail "it timed out"
	return 1
}
in_contrast hold_in_turn
# and a hold outlasts it
ctl 0 pin
t "$(die 1)/vram" r pread,0,1:ETIMEDOUT
ctl 0 unpin
t "$(die 1)/vram" r pread,0,1
