#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Appending is ENOSPC, and byte 0 is untouched
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,1
expect_error "No space left on device" bash -c "echo hello >>'$v'"
expect_error "No space left on device" busybox sh -c "echo hello >>'$v'"
expect_error "No space left on device" dd if=/dev/zero of="$v" oflag=append \
	conv=notrunc bs=4096 count=1
expect_error "No space left on device" tee -a "$v" <<<hello
t "$v" w+append write,1,0:ENOSPC write,1M,0:ENOSPC "size:$CAP"
t "$v" w+append+direct write,4096,0:ENOSPC
t "$v" w+append+trunc write,10,0:ENOSPC
t "$v" r verify,0,1M,1 "size:$CAP"
