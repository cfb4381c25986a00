#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# At or past the end a read gives 0 bytes, across the end what there is
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 1)/vram

for how in r r+direct; do
	t "$v" $how "pread,$CAP,1:0" "pread,$CAP,1M:0" \
		"pread,$((CAP + 1)),10:0" "pread,$((CAP * 2)),4096:0" \
		pread,0x7ffffffffffff000,512:0 \
		"pread,$((CAP - 1)),1" "pread,$((CAP - 1)),4096:1" \
		"pread,$((CAP - 700)),1M:700" "pread,$((CAP - 1000000)),4M:1000000"
done
# not the memory between the VRAM's end and the BAR's
t "$v" r "pread,$((16 << 30)),4096:0" "pread,$((CAP + 4096)),4096:0"
