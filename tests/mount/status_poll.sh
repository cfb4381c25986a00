#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# poll: POLLIN always; POLLPRI when something other than a counter changed
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=100

exec 5<"$(die 0)/status"
t fd:5 - poll,3,0:1 poll,2,0:0 poll,1,0:1
# counters do not count
ctl 0 acquire
t fd:5 - poll,3,0:3 read,10 poll,2,0:0
t "$(die 0)/vram" rw pwrite,0,100,1 pread,0,100
t fd:5 - poll,3,0:1
# it stays until a read at offset 0, elsewhere does not re-arm it
ctl 0 pin
t fd:5 - poll,2,0:2 poll,2,0:2 pread,5,10 poll,2,0:2 pread,0,10 poll,2,0:0
ctl 0 unpin
t fd:5 - poll,2,0:2 pread,0,10 poll,2,0:0

# a poll that waits is woken
wakes() {
	local pid
	t fd:5 - pread,0,10 poll,2,0:0
	"$BIN/tool" fd:5 - poll,2,60000:2 took,0,$SOON &
	pid=$!
	sleep 0.3
	"$@"
	wait $pid || fail "no POLLPRI after: $*"
}
wakes ctl 1 acquire
wakes ctl 0 acquire
wakes ctl 0 pin
wakes ctl 0 release
ctl 1 pin
wakes ctl_errno 0 ETIMEDOUT acquire
ctl 1 unpin
t fd:5 - pread,0,10 poll,2,300:0 took,250,$SOON
if [ "$K80FS_BACKEND" = sim ]; then
	wakes sim driver 0 nvidia
	wakes sim driver 0 none
	ctl 0 acquire
	wakes sim reset 0
	sim dead 0
	wakes ctl_errno 0 EIO acquire
fi
exec 5<&-

exec 5<"$M/status"
t fd:5 - pread,0,10 poll,3,0:1
ctl 2 acquire
t fd:5 - poll,2,1000:2 pread,0,10 poll,2,0:0
exec 5<&-
