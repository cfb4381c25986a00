#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# By default MAP_SHARED is ENODEV; MAP_PRIVATE works, coherent as of its open
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,1 pwrite,4096,4096,7
t "$v" rw mmap,shared,r,0,4096:ENODEV mmap,shared,rw,0,1M:ENODEV
t "$v" r mmap,shared,r,0,4096:ENODEV
expect_error "No such device" /usr/bin/python3 -c '
import mmap, sys
f = open(sys.argv[1], "r+b")
mmap.mmap(f.fileno(), 4096)' "$v"
t "$v" r mmap,private,r,0,8192 peek,4096,4096,7
# of its own copy only
t "$v" rw mmap,private,rw,4096,4096 peek,4096,4096,7 poke,4096,10,9 \
	peek,4096,10,9 same,4096,4096,7
