#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A signal ends a wait for the slot with EINTR at once: parked behind a pin,
# while a swap runs, and in ctl
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000 sim_swap_us=0
v=$(die 0)/vram

ctl 1 pin
t "$v" rw alarm,300 pread,0,4096:EINTR took,250,$SOON \
	alarm,300 pwrite,0,4096,1:EINTR took,250,$SOON \
	alarm,300 "cfr,0,$(die 2)/vram,0,1M:EINTR" took,250,$SOON
t "$(die 0)/ctl" rw alarm,300 "puts,acquire\n:EINTR" took,250,$SOON \
	alarm,300 "puts,pin\n:EINTR" took,250,$SOON \
	alarm,300 "puts,lease\n:EINTR" took,250,$SOON \
	alarm,300 "puts,zero\n:EINTR" took,250,$SOON
expect_status 0 waiters 0
expect_status 1 hold pin

# Ctrl-C of dd: gone within a second, and nothing was written
t "$(die 1)/vram" rw pwrite,0,10,7
dd if=/dev/zero of="$v" bs=1M count=1 conv=notrunc status=none &
pid=$!
wait_waiters 0 1
start=$(now_ms)
kill -TERM $pid
if wait $pid; then
	fail "dd wrote to a die that was pinned out"
fi
soon_after "$start" "the end of dd"
ctl 1 unpin

# while a swap of so many seconds runs
during_swap() {
	local most=$(($1 * 1000 - 1000))
	ctl root release
	sim swap_us $(($1 * 1000000))
	t "$v" rw alarm,300 pread,0,4096:EINTR "took,250,$most" &&
		t "$(die 2)/vram" rw alarm,300 pread,0,4096:EINTR \
			"took,250,$most" &&
		t "$(die 3)/ctl" rw alarm,300 "puts,acquire\n:EINTR" \
			"took,250,$most"
}
if [ "$K80FS_BACKEND" = sim ]; then
	in_contrast during_swap
	sim swap_us 0
fi
t "$v" rw pwrite,0,10,9 same,0,10,9
