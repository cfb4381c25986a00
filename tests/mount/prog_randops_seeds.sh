#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same for a few seconds each with other seeds, thread counts and swap costs
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "several swap costs"

for run in "1 1 0" "2 16 0" "3 4 2000" "4 8 20000"; do
	read -r seed threads cost <<<"$run"
	VRAM=1G mount_sim wait=60000 "sim_swap_us=$cost"
	"$BIN/randops" "$M" "$seed" 4 "$threads" 6 ||
		fail "$(grep -H "last_error [^n]" "$M"/die*/status)"
	unmount
done
# more dies than usual, and only one
DIES=16 VRAM=64M mount_sim wait=60000
"$BIN/randops" "$M" 5 4 8 16
unmount
DIES=1 VRAM=64M mount_sim wait=60000
"$BIN/randops" "$M" 6 2 8 1
