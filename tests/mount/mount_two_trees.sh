#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two trees side by side do not know of each other
. "$(dirname "$0")/lib.sh"
need_sim "two slots"
mount_sim
first=$M
mount_sim
t "$first/die0/vram" rw pwrite,0,4096,1
t "$M/die0/vram" rw same,0,4096,0 pwrite,0,4096,2
t "$first/die0/vram" r same,0,4096,1
echo pin >"$first/die1/ctl"
expect_status root active 0
t "$M/die2/vram" r pread,0,1
unmount
t "$first/die0/vram" r+nonblock pread,0,1:EBUSY
echo unpin >"$first/die1/ctl"
t "$first/die0/vram" r same,0,4096,1
