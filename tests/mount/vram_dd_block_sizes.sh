#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dd with bs=1, 4K, 1M and 16M, seek and skip, GNU and busybox: bit for bit
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 3)/vram
mib=$(bulk 33)
random_file "$W/data" $((mib << 20))

round_trip() {
	local dd=$1 bs=$2 bytes=$3 seek=$4
	head -c "$bytes" "$W/data" >"$W/in"
	$dd if="$W/in" of="$v" bs="$bs" seek="$seek" conv=notrunc 2>"$W/log"
	$dd if="$v" of="$W/out" bs="$bs" skip="$seek" \
		count=$(((bytes + bs - 1) / bs)) 2>"$W/log"
	head -c "$bytes" "$W/out" | cmp - "$W/in"
}
for dd in dd "busybox dd"; do
	round_trip "$dd" 1 999 12345
	round_trip "$dd" 4096 1000000 3
	round_trip "$dd" 1048576 $(((mib << 20) - 77)) 1
	round_trip "$dd" 16777216 $((mib << 20)) 0
done
t "$v" rw same,0,0,0 "size:$CAP"
