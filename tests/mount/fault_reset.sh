#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An unexpected reset: open files go stale, a new open works
. "$(dirname "$0")/lib.sh"
need_sim "a reset nobody ordered"
mount_sim

t "$(die 0)/vram" rw fill,0,64K,1
exec 5<>"$(die 0)/vram" 6<>"$(die 1)/vram"
t fd:6 - pwrite,0,4096,7
generation=$(status 0 generation)
# of a die that is out
sim reset 0
expect_equal "$(status 0 generation)" $((generation + 1)) "generation"
t fd:5 - pread,0,1:ESTALE pwrite,0,1,1:ESTALE fallocate,punch,0,1:ESTALE \
	fallocate,zero,0,1:ESTALE fallocate,keep,0,1:ESTALE \
	"fallocate,punch,$CAP,1:ESTALE" "pread,$CAP,1:ESTALE" \
	"pwrite,$CAP,1,1:ESTALE" fsync:ESTALE "size:$CAP"
exec 5>&-
t "$(die 0)/vram" rw pwrite,0,4096,2 same,0,4096,2
t fd:6 - same,0,4096,7
# and of the one that is in
exec 5<>"$(die 1)/vram"
t fd:5 - pread,0,1
sim reset 1
t fd:5 - pread,0,1:ESTALE
t fd:6 - pwrite,0,1,1:ESTALE
t "$(die 1)/ctl" w "puts,acquire\n"
t "$(die 1)/vram" rw pwrite,0,10,1 same,0,10,1
exec 5>&- 6>&-
