#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# truncate to a size inside the capacity: nothing happens, but that 0 by
# descriptor starts a new image; beyond it: EFBIG
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,1 "fill,$((CAP - 4096)),4096,1"
t "$v" rw ftruncate,0 "size:$CAP"
t "$v" rw "size:$CAP" ftruncate,1 ftruncate,4096 "size:$CAP" \
	"ftruncate,$CAP" "ftruncate,$((CAP + 1)):EFBIG" \
	"ftruncate,$((1 << 40)):EFBIG" "size:$CAP" ftruncate,-1:EINVAL
truncate -s 0 "$v"
truncate -s 5000 "$v"
truncate -s "$CAP" "$v"
busybox truncate -s 0 "$v"
expect_error "File too large" truncate -s $((CAP + 1)) "$v"
expect_error "File too large" truncate -s +1 "$v"
expect_error "File too large" busybox truncate -s $((CAP + 4096)) "$v"
# dd truncates to the place it seeks to unless told notrunc
dd if=/dev/zero of="$v" bs=4096 seek=256 count=1 status=none
expect_equal "$(stat -c %s "$v")" "$CAP"
t "$v" r verify,0,1M,1 same,1M,4096,0 "verify,$((CAP - 4096)),4096,1"
t "$v" r ftruncate,0:EINVAL
