#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two readers and two writers of one die run side by side
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram
mib=$(bulk 32)

ctl 0 acquire
swaps=$(status 0 swaps_in)
t "$v" rw "fill,0,${mib}M,1"
pids=()
for i in 1 2; do
	for _ in 1 2 3 4; do
		t "$v" r "verify,0,${mib}M,1" || exit 1
	done &
	pids+=($!)
	t "$v" rw "fill,$(((i + 1) * mib))M,${mib}M,$i" \
		"verify,$(((i + 1) * mib))M,${mib}M,$i" &
	pids+=($!)
done
for p in "${pids[@]}"; do
	wait "$p"
done
t "$v" r "verify,$((2 * mib))M,${mib}M,1" "verify,$((3 * mib))M,${mib}M,2"
expect_equal "$(status 0 swaps_in)" "$swaps" "swaps for one die's users"
