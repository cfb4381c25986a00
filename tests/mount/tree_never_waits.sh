#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lookup, getattr, readdir, statfs, status and opens answer while a swap runs
# and requests wait for it
. "$(dirname "$0")/lib.sh"
need_sim "slow swaps"
mount_sim wait=60000

is_swapping() {
	has_waiters 1 1 || has_waiters 2 1 || has_waiters 3 2
}

# while a swap of so many seconds runs and requests wait for it
looks() {
	local pids=() start d i p took
	ctl root release
	sim swap_us $(($1 * 1000000))
	for d in 1 2 3; do
		head -c 1M "$(die $d)/vram" >"$W/out$d" &
		pids+=($!)
	done
	for i in 1 2; do
		dd if=/dev/zero of="$(die 3)/vram" bs=1M seek=$i count=1 conv=notrunc \
			status=none &
		pids+=($!)
	done
	await is_swapping || fail "nothing waits for the swap"
	start=$(now_ms)
	for d in 0 1 2 3; do
		soon stat "$(die $d)/vram" >"$W/log"
		soon ls -lR "$(die $d)" >"$W/log"
		soon cat "$(die $d)/status" >"$W/log"
		soon cat "$(die $d)/ctl" >"$W/log"
		# the kernel makes these wait for a write to the same file
		[ $d != 3 ] || continue
		soon touch "$(die $d)/vram"
		soon t "$(die $d)/vram" rw "size:$CAP" ftruncate,0 lseek,0,hole \
			poll,1,0
	done
	soon df "$M" >"$W/log"
	soon cat "$M/status" >"$W/log"
	soon find "$M" >"$W/log"
	took=$(($(now_ms) - start))
	for p in "${pids[@]}"; do
		kill "$p"
	done
	wait "${pids[@]}" || :
	echo "$took ms during a swap of $1 s"
	# all of that was during the first swap
	[ "$took" -lt $(($1 * 1000 - 1000)) ]
}
in_contrast looks
sim swap_us 0
