#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# reset makes open files of that die stale; ctl never goes stale
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

exec 5<>"$(die 0)/vram" 6<>"$(die 1)/vram" 7<>"$(die 0)/ctl"
# the reset of a first acquire does not count
t fd:5 - pwrite,0,4096,1 pread,0,4096
generation=$(status 0 generation)
resets=$(status 0 resets)
echo reset >&7
expect_equal "$(status 0 generation)" $((generation + 1)) "generation"
expect_equal "$(status 0 resets)" $((resets + 1)) "resets"
t fd:5 - pread,0,4096:ESTALE pwrite,0,1,1:ESTALE fsync:ESTALE \
	fallocate,punch,0,1:ESTALE "size:$CAP" "cfr,0,$(die 1)/vram,0,10:ESTALE"
t fd:6 - "pread,0,4096" pwrite,0,4096,2
echo "acquire" >&7
t fd:7 - "puts,pin\n" "puts,release\n"
# close of a stale file succeeds
t "$(die 0)/vram" rw close
exec 5>&-
t "$(die 0)/vram" rw pwrite,0,4096,3 same,0,4096,3
t fd:6 - same,0,4096,2
exec 6>&- 7>&-
# a die that is out can be reset too
ctl 1 acquire
generation=$(status 0 generation)
ctl 0 reset
expect_equal "$(status 0 generation)" $((generation + 1)) "generation"
