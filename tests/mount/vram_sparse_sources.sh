#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools that skip holes leave the old bytes there, as on a disk
. "$(dirname "$0")/lib.sh"
need_cmd rsync tar
mount_sim
v=$(die 0)/vram

# 1 MiB data, 1 MiB hole, 1 MiB data, 1 MiB hole
truncate -s 4M "$W/sparse"
t "$W/sparse" rw fill,0,1M,5 fill,2M,1M,5
expect_equal "$(du -k "$W/sparse" | cut -f1)" 2048 "the source has holes"
old() {
	t "$v" rw fill,0,6M,1
}
# data_and OLD|zero: what stands in the holes now; behind it all is old
data_and() {
	local hole="verify,1M,1M,1 verify,3M,1M,1"
	[ "$1" = old ] || hole="same,1M,1M,0 same,3M,1M,0"
	# shellcheck disable=SC2086 # several operations
	t "$v" r verify,0,1M,5 verify,2M,1M,5 $hole verify,4M,2M,1 "size:$CAP"
}

old
cp "$W/sparse" "$v"
data_and old
cp --sparse=never "$W/sparse" "$v"
data_and zero
old
cp --sparse=always "$W/sparse" "$v"
data_and zero
old
busybox cp "$W/sparse" "$v"
data_and zero
old
dd if="$W/sparse" of="$v" bs=64K conv=sparse status=none
data_and old
dd if="$W/sparse" of="$v" bs=64K status=none
data_and zero
old
cat "$W/sparse" >"$v"
data_and zero

mkdir "$W/t"
cp --sparse=always "$W/sparse" "$W/t/vram"
tar -C "$W/t" -cSf "$W/a.tar" vram
old
tar -C "$M/die0" -xSf "$W/a.tar" --overwrite
data_and old
old
tar -xSOf "$W/a.tar" >"$v"
data_and old
old
tar -xSOf "$W/a.tar" | cat >"$v"
data_and zero

old
rsync --inplace --whole-file "$W/sparse" "$v"
data_and zero
# it truncates the file first, which does nothing here, and skips the hole; the
# one at the end some versions punch
old
rsync --inplace --sparse "$W/sparse" "$v"
t "$v" r verify,0,1M,5 verify,1M,1M,1 verify,2M,1M,5 verify,4M,2M,1 "size:$CAP"
t "$v" r same,3M,1M,0 2>"$W/log" || t "$v" r verify,3M,1M,1
