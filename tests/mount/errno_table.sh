#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every row of the errno table that one mount can show
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=200

t "$(die 0)/ctl" w "puts,nonsense\n:EINVAL"
ctl 1 pin
t "$(die 0)/ctl" w "puts,acquire nowait\n:EBUSY" "puts,acquire\n:ETIMEDOUT" \
	alarm,50 "puts,acquire wait=5000\n:EINTR"
t "$(die 0)/vram" rw+nonblock pread,0,1:EBUSY
t "$(die 0)/vram" rw pread,0,1:ETIMEDOUT
ctl 1 unpin
t "$(die 0)/vram" rw "pwrite,$CAP,1,1:ENOSPC"
t "$M/new" path mkdir:EPERM
t "$(die 0)/status" w:EACCES close:EBADF
exec 5<"$(die 0)/vram"
ctl 0 acquire
ctl 0 reset
t fd:5 - pread,0,1:ESTALE
exec 5<&-
# what no file here has a meaning for
t "$(die 0)/vram" rw ioctl,0x1234:ENOTTY
t "$(die 0)/ctl" rw ioctl,0x5401:ENOTTY
t "$(die 0)/vram/x" r:ENOTDIR close:EBADF
t "$M/die99" r:ENOENT close:EBADF
[ "$K80FS_BACKEND" = sim ] || exit 0
sim dead 2
ctl_errno 2 EIO acquire
t "$(die 2)/vram" r:ENXIO close:EBADF
sim driver 3 nvidia
t "$(die 3)/vram" r pread,0,1:EBUSY
sim stuck 4
t "$(die 4)/vram" r pread,0,1:EBUSY
