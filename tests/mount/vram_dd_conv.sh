#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dd conv=fsync, conv=fdatasync, oflag=sync and dsync, with and without notrunc
. "$(dirname "$0")/lib.sh"
mount_sim
v=$(die 1)/vram

t "$v" rw fill,0,8M,1
i=0
for how in conv=fsync conv=fdatasync oflag=sync oflag=dsync \
	"conv=notrunc oflag=direct" "conv=notrunc,fsync"; do
	i=$((i + 1))
	head -c 1234567 /dev/urandom >"$W/in"
	# shellcheck disable=SC2086 # several operands
	dd if="$W/in" of="$v" bs=64K seek=$i $how status=none
	dd if="$v" bs=64K skip=$i count=1234567 iflag=count_bytes status=none |
		cmp - "$W/in"
	t "$v" r verify,0,64K,1 "verify,$((i * 65536 + 1234567)),1M,1" "size:$CAP"
	t "$v" rw fill,0,8M,1
done
busybox dd if="$W/in" of="$v" bs=4096 conv=fsync 2>"$W/log"
busybox cmp -n 1234567 "$W/in" "$v"
t "$v" r verify,1234567,1M,1
