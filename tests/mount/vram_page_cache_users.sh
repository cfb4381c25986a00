#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# MAP_PRIVATE, sendfile and splice see what was written before, through any open
. "$(dirname "$0")/lib.sh"
mkdir "$W/dies"
mount_sim "sim_dir=$W/dies"
v=$(die 0)/vram

t "$v" rw pwrite,0,64K,1
exec 5<"$v"
t fd:5 - mmap,private,r,0,64K peek,0,64K,1 sendfile,0,4096,1 \
	splice,8192,4096,1
# a write through the mount, by another open, invalidates what it touches
t "$v" rw pwrite,8192,4096,2
t fd:5 - mmap,private,r,0,64K peek,8192,4096,2 peek,12288,4096,1 \
	splice,8192,4096,2 sendfile,8192,4096,2 sendfile,4096,4096,1
t "$v" rw fallocate,punch,0,4096
t fd:5 - mmap,private,r,0,64K peek,0,4096,0 sendfile,0,4096,0
t "$(die 1)/vram" rw pwrite,0,4096,3 "cfr,0,$v,4096,4096"
t fd:5 - sendfile,4096,4096,3 splice,4096,4096,3
t fd:5 - sendfile,20480,4096,1
ctl 0 zero 20480 4096
t fd:5 - sendfile,20480,4096,0 splice,20480,4096,0 mmap,private,r,20480,4096 \
	peek,20480,4096,0
exec 5<&-
# the GPU changes memory behind any cache: the next open sees it
if [ "$K80FS_BACKEND" = sim ]; then
	t "$v" r sendfile,16384,4096,1 mmap,private,r,16384,4096 \
		peek,16384,4096,1
	t "$W/dies/die0" rw pwrite,16384,4096,5
	t "$v" r sendfile,16384,4096,5 mmap,private,r,16384,4096 \
		peek,16384,4096,5 same,16384,4096,5
fi
