#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel goes on while its die is out of the slot, and nobody waits for it:
# other dies' memory, stat and status are there meanwhile
. "$(dirname "$0")/lib.sh"
need_sim "dies that take turns"
mount_compute
[ "${K80_LIBCUDA:-}" != real ] || skip "the length of a kernel is the stand-in's"
compute 0 online
expect_status 0 state active
# longer than the test has patience for
compute 0 work 7 1000 100000000000
# the driver that computes stays bound to it, as on a card
sim cap 1
sim driver 0 nvidia
ctl root release
expect_status root active none
expect_compute 0 state running
soon dd if=/dev/urandom of="$(die 1)/vram" bs=1M count=4 conv=notrunc \
	status=none
soon stat -c %s "$(die 0)/compute/out" >"$W/size"
expect_equal "$(cat "$W/size")" 4194304
# somebody waits for it without the slot
compute 0 sync 2>"$W/sync" &
sync=$!
sleep 0.2
soon dd if="$(die 2)/vram" of=/dev/null bs=1M count=1 status=none
expect_compute 0 state running
kill $sync
wait $sync || :
unmount

# one that ends while its die is out
mount_compute
compute 0 online
sim cap 1
sim driver 0 nvidia
compute 0 work 7 1000 500000000
ctl root release
compute 0 sync
expect_compute 0 state idle
compute 0 verify
expect_compute 0 verified PASS
expect_status 0 driver nvidia
sim driver 0 none

# another die is held: what needs the slot waits its time, or does not
ctl 1 pin
t "$(die 0)/compute/ctl" w+nonblock "puts,launch k80_fill 1 1 out u32:1 f32:1\n:EBUSY"
t "$(die 0)/compute/ctl" w alarm,300 \
	"puts,launch k80_fill 1 1 out u32:1 f32:1\n:EINTR" took,250,$SOON
expect_status 1 hold pin
ctl 1 unpin
compute 0 launch k80_fill 1 1 out u32:1 f32:1
compute 0 sync
