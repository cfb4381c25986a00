#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio, verified, on a CUDA device: mixed sizes, and sequences that are gathered
# and read ahead
. "$(dirname "$0")/lib.sh"
need_cmd fio
mount_cuda

for how in "--rw=randrw --bsrange=512-256k --bs_unaligned=1" \
	"--rw=write --bs=4k" "--rw=rw --bs=64k" "--rw=write --bs=1m"; do
	# shellcheck disable=SC2086 # several words
	fio --name=verify --filename="$(die 0)/vram" --ioengine=posixaio $how \
		--iodepth=8 --size=32m --direct=1 --verify=crc32c \
		--verify_fatal=1 --allow_file_create=0 --fallocate=none \
		--output="$W/fio" || fail "$how: $(cat "$W/fio")"
done
expect_status 0 last_error none
