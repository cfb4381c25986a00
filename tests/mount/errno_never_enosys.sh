#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fsync, lseek, fallocate, poll and copy_file_range keep reaching the daemon:
# a refusal once does not make the kernel answer for good
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=100
v=$(die 0)/vram

for f in "$(die 0)/status" "$(die 0)/ctl" "$M/status" "$M/ctl"; do
	"$BIN/tool" "$f" r lseek,0,hole fallocate,punch,0,4096 2>"$W/log" ||
		true # whatever a text file says
	"$BIN/tool" "$f" r "cfr,0,$v,0,10" 2>"$W/log" || true
	"$BIN/tool" "$f" r fsync poll,1,0:1
done
t "$(die 0)/ctl" w fsync fallocate,punch,0,10:EOPNOTSUPP
ctl 1 pin
t "$v" rw+nonblock fallocate,punch,0,4096:EBUSY \
	"cfr,0,$(die 2)/vram,0,4096:EBUSY" fsync poll,1,0:1
ctl 1 unpin
t "$v" rw fill,0,64K,1 "lseek,0,hole:$CAP" fallocate,punch,0,4096 same,0,4096,0 \
	"cfr,0,$(die 2)/vram,0,64K" fsync poll,3,0:1
t "$(die 2)/vram" r same,0,4096,0 verify,4096,61440,1
