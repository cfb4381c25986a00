#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pin stays after its file is closed, until unpin or release
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=200

ctl 0 pin
expect_status 0 hold pin
expect_status 0 state active
[[ $(status 0 holder) =~ ^[0-9]+\ .+ ]] ||
	fail "holder is '$(status 0 holder)'"
t "$(die 1)/vram" r+nonblock pread,0,1:EBUSY
t "$(die 0)/vram" rw pread,0,4096 pwrite,0,4096,1
ctl 0 pin
ctl 0 acquire
expect_status 0 hold pin
ctl 0 unpin
expect_status 0 hold none
expect_status 0 holder none
expect_status 0 state active
ctl 0 unpin
ctl 1 unpin
t "$(die 1)/vram" r pread,0,1
ctl 0 pin nowait
ctl 0 release
expect_status 0 hold none
t "$(die 1)/vram" r pread,0,1
ctl 0 pin wait=50
expect_status 0 hold pin
ctl 0 unpin
