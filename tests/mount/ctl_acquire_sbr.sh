#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# acquire sbr resets the die first: files open on it go stale
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

t "$(die 0)/vram" rw fill,0,64K,1
exec 5<>"$(die 0)/vram" 6<>"$(die 1)/vram" 7<>"$(die 0)/ctl"
generation=$(status 0 generation)
resets=$(status 0 resets)
ctl 0 acquire sbr
expect_status 0 state active
expect_equal "$(status 0 generation)" $((generation + 1)) "generation"
expect_equal "$(status 0 resets)" $((resets + 1)) "resets"
t fd:5 - pread,0,1:ESTALE pwrite,0,1,1:ESTALE "size:$CAP"
t fd:6 - pread,0,1
t fd:7 - "puts,acquire\n"
t "$(die 0)/vram" rw pwrite,0,4096,1 same,0,4096,1
ctl 0 acquire sbr nowait
ctl 1 acquire sbr wait=1000
expect_status 1 state active
t fd:6 - pread,0,1:ESTALE
exec 5>&- 6>&- 7>&-
