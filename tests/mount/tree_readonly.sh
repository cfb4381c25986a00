#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -o ro: writing vram and ctl is EROFS, reading works and still swaps
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim ro
v=$(die 1)/vram

t "$v" rw:EROFS close:EBADF
t "$v" w:EROFS close:EBADF
t "$v" w+trunc:EROFS close:EBADF
t "$(die 1)/ctl" w:EROFS close:EBADF
t "$M/ctl" w:EROFS close:EBADF
expect_error "Read-only file system" truncate -s 0 "$v"
expect_error "Read-only file system" sh -c "echo acquire >'$(die 1)/ctl'"
t "$v" r pread,0,4096 pread,12345,1000
expect_status 1 state active
head -c 4096 "$(die 0)/vram" >"$W/out"
expect_status 0 state active
expect_status root active 0
cat "$(die 1)/ctl" >"$W/commands"
grep -q acquire "$W/commands"
