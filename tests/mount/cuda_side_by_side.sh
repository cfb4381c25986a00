#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several mounts of CUDA devices: each has its own, or they share one's memory
. "$(dirname "$0")/lib.sh"
mkdir "$W/ledger" "$W/d"
use_standin STANDIN_DEVICES=2 STANDIN_VRAM=64M "STANDIN_LEDGER=$W/ledger"

mount_at "$W/a" backend=cuda,cuda_vram=16M,cuda_devices=0
mount_at "$W/b" backend=cuda,cuda_vram=16M,cuda_devices=1
mount_at "$W/c" backend=cuda,cuda_vram=32M
t "$W/a/die0/vram" rw pwrite,0,1M,1
t "$W/b/die0/vram" rw pwrite,0,1M,2
t "$W/c/die0/vram" rw pwrite,0,1M,3
t "$W/c/die1/vram" rw pwrite,0,1M,4
t "$W/a/die0/vram" rw same,0,1M,1
t "$W/b/die0/vram" rw same,0,1M,2
M=$W/c
expect_status 0 memory_free $((16 << 20))
expect_status 1 memory_free $((16 << 20))

# what one has another cannot get
if "$K80FS" -o backend=cuda,cuda_vram=17M "$W/d" 2>"$W/err"; then
	fail "17M of the 16M that are left"
fi
grep -q "16 of 64 MiB are free" "$W/err" || fail "$(cat "$W/err")"

# it is free again, however the daemon ends
M=$W/c
kill -9 "$(daemon_pids "$W/a")"
umount -l "$W/a"
wait_status 0 memory_free $((32 << 20))
unmount "$W/b"
expect_status 1 memory_free $((32 << 20))
