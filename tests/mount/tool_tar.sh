#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tar -S of a die: all of it, and back
. "$(dirname "$0")/lib.sh"
need_small_dies "a die small enough to be archived"
need_cmd tar
VRAM=32M mount_sim
v=$(die 0)/vram

t "$v" rw fill,0,1M,1 fill,20M,1M,1
want=$(sum <"$v")
tar -C "$(die 0)" -cSf "$W/a.tar" vram
[ "$(stat -c %s "$W/a.tar")" -gt "$CAP" ] ||
	fail "tar -S left out what a die has no holes for"
mkdir "$W/x"
tar -C "$W/x" -xSf "$W/a.tar"
expect_equal "$(sum <"$W/x/vram")" "$want" "tar -S"
busybox tar -C "$(die 0)" -cf "$W/b.tar" vram
tar -xOf "$W/b.tar" | cmp - "$W/x/vram"
# and into another die; tar cannot replace the file, only overwrite it
expect_error "" tar -C "$(die 1)" -xf "$W/a.tar"
tar -C "$(die 1)" -xf "$W/a.tar" --overwrite
cmp "$(die 1)/vram" "$W/x/vram"
