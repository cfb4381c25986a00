#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# st_size is the capacity, st_blocks size/512, st_blksize 1 MiB; ls and du agree
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim

for ((d = 0; d < N; d++)); do
	expect_equal "$(stat -c '%s %b %B %o %h' "$(die "$d")/vram")" \
		"$CAP $((CAP / 512)) 512 1048576 1" "die $d"
done
expect_equal "$(busybox stat -c '%s %b' "$(die 0)/vram")" "$CAP $((CAP / 512))"
t "$(die 0)/vram" r "size:$CAP" "blocks:$((CAP / 512))" blksize:1M
expect_equal "$(ls -s --block-size=1 "$(die 0)/vram" | cut -d' ' -f1)" "$CAP" \
	"ls -s"
expect_equal "$(du -B1 "$(die 0)/vram" | cut -f1)" "$CAP" "du"
expect_equal "$(du -b "$(die 0)/vram" | cut -f1)" "$CAP" "du -b"
expect_equal "$(busybox du -k "$(die 0)/vram" | cut -f1)" $((CAP / 1024)) \
	"busybox du"
[ "$(du -sB1 "$M" | cut -f1)" -ge $((CAP * N)) ] || fail "du -s of the tree"
expect_status root active none
