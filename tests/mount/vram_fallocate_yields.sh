#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Clearing a whole die goes in chunks: another die's user gets its turn
. "$(dirname "$0")/lib.sh"
need_sim "memory to clear that is not a hole"
VRAM=12G mount_sim timeslice=20
v=$(die 0)/vram

for ((i = 0; i < 12; i++)); do
	t "$v" rw "fill,$((i << 30)),16M,1"
done
end=$(($(now_ms) + 2500))
while [ "$(now_ms)" -lt $end ]; do
	t "$v" rw fallocate,punch,0,12G
done &
clear=$!
for i in 1 2 3 4 5; do
	soon t "$(die 1)/vram" rw "pwrite,$i,4096,1" fsync
	sleep 0.1
done
wait $clear
t "$v" r same,0,16M,0 same,11G,16M,0
