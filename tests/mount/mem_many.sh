#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Many files: each is found by name, and all are there after a kill
# timeout: 600
. "$(dirname "$0")/lib.sh"
n=$(often 1000 100)
VRAM=$((n * 2 + 64))M mount_mem
d=$(mem 0)
for ((i = 1; i <= n; i++)); do
	echo "$i" >"$d/n$i"
done
expect_equal "$(find "$d" -type f | wc -l)" "$n" "files"
expect_equal "$(number 0 mem_files) $(number 0 mem_bytes)" \
	"$n $((n * (2 << 20)))" "status"
mem_kill
mem_again
cat "$d"/n* | sort -n | cmp - <(seq "$n")
rm "$d"/n*
freed 0
# numbers of descriptors come back, too: a keeper that holds nothing
expect_equal "$(keeper -S | grep -c ': 0 chunks, 0 bytes')" 1 "the keeper"
