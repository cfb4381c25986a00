#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel driver bound to the die: EBUSY, status says which
. "$(dirname "$0")/lib.sh"
need_sim "a driver that is bound"
mount_sim

t "$(die 0)/vram" rw pwrite,0,4096,1
sim driver 1 nvidia
expect_status 1 driver nvidia
t "$(die 1)/vram" rw pread,0,1:EBUSY pwrite,0,1,1:EBUSY
ctl_errno 1 EBUSY acquire
ctl_errno 1 EBUSY pin
grep -q nvidia <<<"$(status 1 last_error)" ||
	fail "last_error names no driver: $(status 1 last_error)"
# the others work on
t "$(die 0)/vram" rw same,0,4096,1
t "$(die 2)/vram" rw pwrite,0,10,1
sim driver 1 none
expect_status 1 driver none
t "$(die 1)/vram" rw pwrite,0,10,1 same,0,10,1

# a driver on the die that is in: it may not be swapped out
sim driver 1 nvidia
t "$(die 0)/vram" r pread,0,1:EBUSY
sim driver 1 none
t "$(die 0)/vram" r same,0,4096,1
