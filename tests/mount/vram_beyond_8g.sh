#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Offsets above 4 GiB and 8 GiB go to the right place and nowhere else
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
[ "$CAP" -gt $((9 << 30)) ] || skip "the die has only $CAP bytes"
v=$(die 0)/vram

g=$((1 << 30))
# every place that a cut address could hit
places="0 $g $((2 * g)) $((3 * g)) $((4 * g)) $((5 * g)) $((6 * g)) $((7 * g)) \
	$((8 * g)) $((9 * g)) $((4 * g - 4096)) $((8 * g - 4096)) $((CAP - 4096))"
for p in $places; do
	t "$v" rw "fill,$p,4096,7"
done
for p in $places; do
	t "$v" r "verify,$p,4096,7"
done
head -c 1M /dev/urandom >"$W/in"
for gib in 4 8; do
	at=$((gib * 1024))
	dd if="$W/in" of="$v" bs=1M seek=$at conv=notrunc,fsync status=none
	dd if="$v" bs=1M skip=$at count=1 status=none | cmp - "$W/in"
	busybox dd if="$v" bs=4096 skip=$((at * 256)) count=256 2>"$W/log" |
		cmp - "$W/in"
	dd if="$v" iflag=skip_bytes,count_bytes,direct skip=$((gib * g + 5)) \
		count=1000001 bs=64K status=none |
		cmp - <(tail -c +6 "$W/in" | head -c 1000001)
	t "$v" r "verify,$((gib * g - 4096)),4096,7"
done
t "$v" r verify,0,4096,7 "verify,$((2 * g)),4096,7" "verify,$((9 * g)),4096,7"
