#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -o cache: a dirty mapped page that cannot be written is reported by msync
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim cache wait=300
v=$(die 0)/vram

exec 5<>"$v"
t fd:5 - pwrite,0,4096,1 fsync
ctl 1 pin
if t fd:5 - mmap,shared,rw,0,4096 poke,0,10,2 msync; then
	fail "msync of a page that could not be written said nothing"
fi
ctl 1 unpin
t fd:5 - pwrite,4096,10,3 fsync
exec 5>&-
