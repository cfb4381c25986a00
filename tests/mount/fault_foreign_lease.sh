#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Another process leases a die by itself: others wait, EBUSY with nowait
. "$(dirname "$0")/lib.sh"
need_sim "a lease of a foreign process"
mount_sim wait=300

ctl 0 acquire
sim lease 0 4242
grep -q 4242 <<<"$(status 0 holder)" || fail "holder '$(status 0 holder)'"
t "$(die 1)/vram" r+nonblock pread,0,1:EBUSY
ctl_errno 1 EBUSY acquire nowait
t "$(die 1)/vram" r pread,0,1:ETIMEDOUT took,200,$SOON
t "$(die 0)/vram" r pread,0,1
"$BIN/tool" "$(die 1)/ctl" w "puts,acquire wait=60000\n" &
pid=$!
wait_waiters 1 1
sim unlease 0
wait $pid
expect_status 1 state active
