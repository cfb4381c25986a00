#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# BAR1 in virtual mode: EBUSY, status says bar1_mode virtual
. "$(dirname "$0")/lib.sh"
need_sim "a BAR1 that goes virtual"
mount_sim

t "$(die 0)/vram" rw pwrite,0,4096,1
expect_status 0 bar1_mode physical
ctl 1 acquire
sim stuck 0
t "$(die 0)/vram" rw pread,0,4096:EBUSY pwrite,0,1,1:EBUSY
expect_status 0 bar1_mode virtual
t "$(die 1)/vram" rw pwrite,0,10,1
sim physical 0
ctl 1 acquire
t "$(die 0)/vram" r same,0,4096,1
expect_status 0 bar1_mode physical
# where nothing but a write is needed the next acquire makes it physical
ctl 1 acquire
sim virtual 0
t "$(die 0)/vram" r same,0,4096,1
expect_status 0 bar1_mode physical
# it turns virtual while it is in: the copy does not count
sim stuck 0
t "$(die 0)/vram" rw pread,0,4096:EBUSY pwrite,0,1,1:EBUSY
expect_status 0 bar1_mode virtual
