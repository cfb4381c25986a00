#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# release vacates the slot; root release whatever is in
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

t "$(die 0)/vram" rw pwrite,0,4096,5
ctl 0 release
expect_status 0 state idle
expect_status root active none
ctl 0 release
ctl 1 acquire
# a die that is not in: nothing happens
ctl 0 release
expect_status root active 1
ctl root release
expect_status root active none
ctl root release
t "$(die 0)/vram" r same,0,4096,5
# it ends a pin as well
ctl 2 pin
ctl 2 release
expect_status 2 hold none
expect_status root active none
ctl 2 pin
ctl root release
expect_status 2 hold none
expect_status root active none
