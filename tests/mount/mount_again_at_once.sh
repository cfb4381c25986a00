#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A tree that is mounted where another one was a moment ago stays, although the
# first daemon is still on its way out
. "$(dirname "$0")/lib.sh"
need_sim "an end that takes its time"
mkdir "$W/m"
M=$W/m
mount_at "$M" "backend=sim,sim_dies=2,sim_vram=64M,sim_ctl=$W/sock"
first=$(daemon_pid)
t "$(die 0)/vram" rw pwrite,0,4096,1
t "$W/sock" path "order,swap_us 3000000"
# its end has to wait for this swap
"$BIN/tool" "$(die 1)/vram" r alarm,300 pread,0,4096:EINTR
umount "$M"
[ -d "/proc/$first" ] || fail "the first daemon has ended already"
mount_at "$M" "backend=sim,sim_dies=2,sim_vram=64M"
t "$(die 0)/vram" rw pwrite,0,4096,2
await test ! -d "/proc/$first" || fail "the first daemon does not end"
is_mounted "$M" || fail "the first daemon took the second one's mount away"
t "$(die 0)/vram" r same,0,4096,2
