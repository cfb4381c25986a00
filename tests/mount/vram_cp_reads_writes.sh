#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies from die to die by tools that read and write instead: busybox cp, tar,
# cat; small blocks, and still right
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_small_dies "dies small enough to be copied whole"
VRAM=24M mount_sim sim_swap_us=100

random_file "$W/in" "$CAP"
cp "$W/in" "$(die 0)/vram"
before=$(root_status swaps)
start=$(now_ms)
busybox cp "$(die 0)/vram" "$(die 1)/vram"
swaps=$(($(root_status swaps) - before))
took=$(($(now_ms) - start))
cmp "$W/in" "$(die 1)/vram"
echo "busybox cp: $swaps swaps in $took ms"
# the dies take turns, the more often the longer it takes
[ "$swaps" -lt $((3000 + took / 10)) ] ||
	fail "$swaps swaps for 6144 blocks of 4 KiB in $took ms"
cat "$(die 1)/vram" >"$(die 2)/vram"
cmp "$W/in" "$(die 2)/vram"
dd if="$(die 2)/vram" of="$(die 3)/vram" bs=1M status=none
cmp "$W/in" "$(die 3)/vram"
tar -C "$(die 3)" -cf - vram | tar -C "$(die 4)" -xf - --overwrite
cmp "$W/in" "$(die 4)/vram"
