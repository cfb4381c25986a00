#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A write across the end is short, at the end it is ENOSPC
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 0)/vram

for how in rw rw+direct rw+sync; do
	t "$v" "$how" "pwrite,$((CAP - 10)),10,1" "pwrite,$((CAP - 10)),20,2:10" \
		"same,$((CAP - 10)),10,2" "pwrite,$CAP,1,3:ENOSPC" \
		"pwrite,$((CAP - 1)),4096,4:1" "pwrite,$((CAP + 5)),1,3:ENOSPC" \
		"pwrite,$((CAP * 2)),1M,3:ENOSPC" \
		"pwrite,$((CAP - 1000000)),3M,6:1000000" \
		"same,$((CAP - 1000000)),1000000,6" "size:$CAP"
done
t "$v" w "lseek,0,end:$CAP" write,1,0:ENOSPC "pwrite,$CAP,0,0:0"
