#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Users of all dies at once: everyone progresses, nobody starves
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim sim_swap_us=1000
mib=$(bulk 48)

pids=()
for ((d = 0; d < N; d++)); do
	t "$(die $d)/vram" rw "fill,0,${mib}M,$d" "verify,0,${mib}M,$d" &
	pids+=($!)
done
# and a small reader, whose every read is bounded
for ((i = 0; i < 20; i++)); do
	soon t "$(die $((i % N)))/vram" r "pread,$((CAP - 4096)),4096"
done
for p in "${pids[@]}"; do
	wait "$p"
done
for ((d = 0; d < N; d++)); do
	t "$(die $d)/vram" r "verify,0,${mib}M,$d"
	[ "$(status $d swaps_in)" -gt 0 ] || fail "die $d never came in"
done
