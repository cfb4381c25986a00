#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio with libaio, psync and mmap-free engines, mixed sizes, verified
. "$(dirname "$0")/lib.sh"
need_cmd fio
mount_sim
mib=$(bulk 48)

for engine in psync libaio pvsync; do
	fio --name=$engine --filename="$(die 0)/vram" --ioengine=$engine \
		--rw=randrw --bsrange=512-256k --bs_unaligned=1 --iodepth=16 \
		--size="${mib}m" --direct=1 --verify=crc32c --verify_fatal=1 \
		--allow_file_create=0 --fallocate=none --output="$W/fio" ||
		fail "$(cat "$W/fio")"
done
