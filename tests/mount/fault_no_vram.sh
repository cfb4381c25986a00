#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory not initialised: acquire works (a driver needs it), data is EIO
. "$(dirname "$0")/lib.sh"
need_sim "a die that was not initialised"
mount_sim

sim novram 0
ctl 0 acquire
expect_status 0 state no_vram
t "$(die 0)/vram" rw pread,0,4096:EIO pwrite,0,1,1:EIO
[ "$(status 0 last_error)" != none ] || fail "last_error tells nothing"
t "$(die 1)/vram" rw pwrite,0,10,1
sim vram 0
t "$(die 0)/vram" rw pwrite,0,10,1 same,0,10,1
expect_status 0 state active
