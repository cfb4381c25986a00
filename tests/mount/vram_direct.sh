#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# O_DIRECT at any offset, length and buffer alignment; neighbours stay
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,3
t "$v" rw+direct align,1 pwrite,4097,1,9 pwrite,8191,3,8 align,511 \
	pwrite,100001,12347,7 align,3 same,4097,1,9 same,8191,3,8 \
	same,100001,12347,7
t "$v" r+direct verify,0,4097,3 verify,4098,4093,3 verify,8194,91807,3 \
	verify,112348,936228,3 align,77 verify,0,4097,3

head -c 3M /dev/urandom >"$W/in"
for bs in 512 4095 4097 1000001; do
	dd if="$W/in" of="$v" bs=$bs oflag=direct conv=notrunc status=none
	dd if="$v" bs=$bs iflag=direct,fullblock,count_bytes count=3M \
		status=none | cmp - "$W/in"
	dd if="$v" of="$W/out" bs=$bs iflag=direct,skip_bytes,count_bytes \
		skip=1 count=1M status=none
	cmp "$W/out" <(tail -c +2 "$W/in" | head -c 1M)
done
