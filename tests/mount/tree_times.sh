#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mtime and ctime of vram are those of the last write through the mount
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

sleep 0.1
before=$(date +%s)
sleep 1.1
t "$v" r pread,0,10
old=$(stat -c '%Y %Z' "$v")
sleep 1.1
t "$v" r pread,0,10
expect_equal "$(stat -c '%Y %Z' "$v")" "$old" "times after a read"
before_write=$(date +%s)
t "$v" rw pwrite,0,10,1
read -r m c < <(stat -c '%Y %Z' "$v")
[ "$m" -gt "$before" ] || fail "mtime $m is not after $before"
[ "$c" -gt "$before" ] || fail "ctime $c is not after $before"
# the kernel's clock for files ticks in steps of some milliseconds
((m >= before_write - 1 && m <= $(date +%s))) ||
	fail "mtime $m is not that of a write after $before_write"
