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
mount_at "$M" backend=cuda,cuda_vram=max
cap=$(status 0 vram_bytes)
((cap >= 448 << 20 && cap < 512 << 20)) || fail "max is $cap of 512M"
t "$(die 0)/vram" r size:"$cap"
unmount "$M"
mount_at "$M" backend=cuda,cuda_vram=3M
expect_status 0 vram_bytes $((3 << 20))
t "$(die 0)/vram" rw same,0,3M,0 pwrite,2M,1M,7 same,2M,1M,7
unmount "$M"

# those that were named, however, in the order of their addresses
use_standin STANDIN_DEVICES=20 STANDIN_VRAM=16M
M=$W/some
uuid() {
	# the stand-in's: the PCI address in sixteen bytes
	printf '0000:%02X:00.0\0\0\0\0' $((0x3a + $1)) |
		od -An -tx1 | tr -d ' \n'
}
hyphens='s/^(.{8})(.{4})(.{4})(.{4})/\1-\2-\3-\4-/'
for list in 1+19 19+1 3b:00.0+0000:4d:00.0 00000000:4D:00.0+1 1+1+19 \
	"GPU-$(uuid 1)+GPU-$(uuid 19 | sed -E "$hyphens" | tr a-f A-F)"; do
	mount_at "$M" "backend=cuda,cuda_vram=8M,cuda_devices=$list"
	expect_equal "$(root_status dies) $(status 0 bdf) $(status 1 bdf)" \
		"2 0000:3b:00.0 0000:4d:00.0" "dies of $list"
	unmount "$M"
done
