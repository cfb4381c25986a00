#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# zero clears the whole die, zero OFF LEN a part of it
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,2M,1 "fill,$((CAP - 1048576)),1M,1"
ctl 0 zero 1000 5001
t "$v" r verify,0,1000,1 same,1000,5001,0 verify,6001,1M,1
ctl 0 zero 0x100000 4096
t "$v" r same,1M,4096,0 verify,1052672,4096,1
ctl 0 zero $((CAP - 10)) 10
t "$v" r "verify,$((CAP - 1048576)),1048566,1" "same,$((CAP - 10)),10,0"
ctl_errno 0 EINVAL "zero 0 $((CAP + 1))"
ctl_errno 0 EINVAL "zero $CAP 1"
t "$v" r verify,0,1000,1
t "$(die 1)/vram" rw fill,0,1M,2
[ "$K80FS_BACKEND" = sim ] || exit 0
ctl 0 zero
t "$v" r same,0,2M,0 "same,$((CAP - 1048576)),1M,0"
t "$(die 1)/vram" r verify,0,1M,2
