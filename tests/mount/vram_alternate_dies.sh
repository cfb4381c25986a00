#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dd from one die to another does not swap once a block: the daemon reads ahead
. "$(dirname "$0")/lib.sh"
mount_sim
mib=$(bulk 64)

random_file "$W/in" $((mib << 20))
dd if="$W/in" of="$(die 0)/vram" bs=1M conv=notrunc status=none
before=$(root_status swaps)
start=$(now_ms)
dd if="$(die 0)/vram" of="$(die 1)/vram" bs=64K count=$((mib * 16)) \
	conv=notrunc status=none
swaps=$(($(root_status swaps) - before))
took=$(($(now_ms) - start))
cmp -n $((mib << 20)) "$W/in" "$(die 1)/vram"
blocks=$((mib * 16))
echo "$swaps swaps for $blocks blocks in $took ms"
# the dies take turns, the more often the longer it takes
[ "$swaps" -lt $((blocks / 2 + took / 10)) ] ||
	fail "$swaps swaps for $blocks blocks in $took ms"

# what was read ahead is never stale: change the source while it is copied
t "$(die 0)/vram" rw fill,0,4M,1
exec 5<"$(die 0)/vram"
t fd:5 - read,64K
t "$(die 1)/vram" rw pwrite,0,64K,1
t fd:5 - read,64K
t "$(die 0)/vram" rw pwrite,128K,64K,42
t "$(die 1)/vram" rw pwrite,64K,64K,1
t "$(die 0)/vram" r same,128K,64K,42
t fd:5 - same,128K,64K,42
exec 5<&-
