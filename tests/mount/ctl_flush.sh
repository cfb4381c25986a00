#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# flush is fsync of the die: ok in and out, never swaps
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

ctl 0 flush
expect_status root active none
t "$(die 0)/vram" rw pwrite,0,1M,1
ctl 0 flush
expect_status root active 0
swaps=$(root_status swaps)
ctl 1 flush
expect_status root active 0
expect_equal "$(root_status swaps)" "$swaps" "swaps"
t "$(die 0)/vram" r same,0,1M,1
if [ "$K80FS_BACKEND" = sim ]; then
	# pinned: one that nobody uses has nothing to flush after a moment
	ctl 0 pin
	t "$(die 0)/vram" rw pwrite,0,1M,1
	sim dead 0
	sleep 1
	ctl_errno 0 EIO flush
fi
