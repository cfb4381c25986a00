#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An acquire that fails: its errno, a reason, an empty slot; the next one works
. "$(dirname "$0")/lib.sh"
need_sim "an acquire that fails"
mount_sim

t "$(die 0)/vram" rw pwrite,0,4096,1
sim fail 1 1 EIO
ctl_errno 1 EIO acquire
expect_status root active none
expect_status 1 state idle
e=$(status 1 last_error)
[ "$e" != none ] || fail "last_error tells nothing"
expect_status 0 last_error none
ctl 1 acquire
expect_status 1 state active

# the same in the middle of reads, other errnos, not at the first try
ctl 0 acquire
sim fail 1 1 EIO
t "$(die 1)/vram" r pread,0,4096:EIO pread,0,4096
sim fail 2 2 EBUSY
t "$(die 2)/vram" r pread,0,1
ctl 0 acquire
# with nobody in the way it is another process at its acquire, and waited for
t "$(die 2)/vram" r pread,0,1
t "$(die 0)/vram" r same,0,4096,1
# those who waited for another die go on
sim fail 3 1 EIO
sim swap_us 100000
pids=()
for d in 0 1 2 4 5; do
	"$BIN/tool" "$(die $d)/vram" r pread,0,4096 &
	pids+=($!)
done
"$BIN/tool" "$(die 3)/vram" r pread,0,4096:EIO &
pids+=($!)
for p in "${pids[@]}"; do
	wait "$p"
done
