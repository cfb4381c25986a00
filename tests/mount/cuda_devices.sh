#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every CUDA device is a die of its own, sixteen at most; all of a device but a
# margin is its memory unless told otherwise
. "$(dirname "$0")/lib.sh"
use_standin
DIES=20 VRAM=8M mount_cuda
expect_equal "$N" 16 "dies"
for ((d = 0; d < N; d++)); do
	t "$(die $d)/vram" rw pwrite,1M,64K,$((d + 1))
done
for ((d = 0; d < N; d++)); do
	t "$(die $d)/vram" r same,1M,64K,$((d + 1)) same,0,1M,0
	expect_status $d bdf "$(printf '0000:%02x:00.0' $((0x3a + d)))"
	expect_equal "$(realpath "$M/by-bdf/$(status $d bdf)")" "$(die $d)" by-bdf
done
unmount

M=$W/max
use_standin STANDIN_DEVICES=1 STANDIN_VRAM=512M
for vram in "" ,cuda_vram=max; do
	mount_at "$M" "backend=cuda$vram"
	cap=$(status 0 vram_bytes)
	((cap >= 448 << 20 && cap < 512 << 20)) || fail "max is $cap of 512M"
	t "$(die 0)/vram" r size:"$cap"
	unmount "$M"
done
mount_at "$M" backend=cuda,cuda_vram=3M
expect_status 0 vram_bytes $((3 << 20))
