#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who removes a file has its memory for the next one, though the kernel is late
. "$(dirname "$0")/lib.sh"
VRAM=64M LD_PRELOAD=$BIN/slow_forget.so mount_mem
d=$(mem 0)
for i in 1 2 3; do
	fallocate -l 64M "$d/$i"
	rm "$d/$i"
done
fallocate -l 64M "$d/a"
printf x | dd of="$d/b" conv=notrunc status=none 2>"$W/err" &&
	fail "there is memory behind all of it"
rm "$d/a"
printf x >"$d/b"
rm "$d/b"
# what somebody has open has no name, but is there
fallocate -l 64M "$d/a"
exec 5<"$d/a"
rm "$d/a"
expect_error "No space left" fallocate -l 2M "$d/b"
exec 5<&-
freed 0
