#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A signal ends a wait for a kernel at once, many may wait, and an unmount does
# not wait for one that runs
. "$(dirname "$0")/lib.sh"
mount_compute
c=$(die 0)/compute
compute 0 online
compute 0 work 1 2 100000000000
t "$c/ctl" w alarm,300 "puts,sync\n:EINTR" took,250,$SOON \
	alarm,300 "puts,verify\n:EINTR" took,250,$SOON \
	alarm,300 "puts,work 1 2\n:EINTR" took,250,$SOON
t "$c/out" rw alarm,300 pread,0,4096:EINTR took,250,$SOON \
	alarm,300 pwrite,0,10,1:EINTR took,250,$SOON
t "$c/out" rw+nonblock pread,0,4096:EAGAIN pwrite,0,10,1:EAGAIN
t "$c/ctl" w+nonblock "puts,sync\n:EAGAIN" "puts,verify\n:EAGAIN"
expect_compute 0 state running

# more waiters than the daemon has threads: stat and another die go on
for ((i = 0; i < 40; i++)); do
	dd if="$c/out" of=/dev/null bs=4k count=1 status=none 2>"$W/dd.$i" &
done
sleep 0.3
soon stat "$c/out" >"$W/log"
soon cat "$c/status" >"$W/log"
soon compute 1 online
soon compute 1 work 3 4
soon compute 1 verify
# a kernel can be queued behind the one that is waited for
soon compute 0 launch k80_fill 1 1 out u32:1 f32:1
for pid in $(jobs -p); do
	kill -TERM "$pid"
done
soon wait
expect_compute 0 state running
soon unmount
