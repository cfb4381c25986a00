#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dd if=/dev/zero of=vram stops with "No space left" after the exact capacity
. "$(dirname "$0")/lib.sh"
need_small_dies "a die small enough to be filled"
VRAM=70M mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,70M,1
expect_error "No space left on device" \
	env -u K80 dd if=/dev/zero of="$v" bs=1M
grep -q "^$CAP bytes" "$W/stderr" || fail "$(cat "$W/stderr")"
t "$v" rw same,0,70M,0 fill,0,70M,2
# a block that crosses the end: 70 MiB is no multiple of 16
expect_error "No space left on device" dd if=/dev/zero of="$v" bs=16M
grep -q "^$CAP bytes" "$W/stderr" || fail "$(cat "$W/stderr")"
t "$v" rw same,0,70M,0 fill,0,70M,3
expect_error "No space left on device" busybox dd if=/dev/zero of="$v" bs=1M
t "$v" rw same,0,70M,0
expect_error "No space left on device" sh -c "cat /dev/zero >'$v'"
expect_error "No space left on device" cp --sparse=never \
	<(head -c 80M /dev/zero) "$v"
expect_equal "$(stat -c %s "$v")" "$CAP"
