#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fsync and close: never swap; nothing to do for a die that is out
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

exec 5<>"$(die 0)/vram" 6<>"$(die 1)/vram" 7<>"$(die 2)/vram"
t fd:7 - fsync fdatasync
expect_status root active none
t fd:5 - pwrite,0,1M,1 fsync fdatasync
t fd:6 - pwrite,0,1M,2
expect_status root active 1
before=$(root_status swaps)
t fd:5 - fsync fdatasync
expect_status root active 1
t fd:6 - fsync
t fd:7 - fsync
exec 5>&- 7>&-
expect_status root active 1
expect_equal "$(root_status swaps)" "$before" "swaps of fsync and close"
sync -f "$M/die1/vram"
exec 6>&-
t "$(die 0)/vram" r same,0,1M,1
t "$(die 1)/vram" r same,0,1M,2
