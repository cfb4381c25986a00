#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools that skip holes or zeros: after a truncating open the die holds what the
# tool was asked to write, and behind it what was there
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_cmd rsync tar zstd
mount_sim
v=$(die 0)/vram

# 1 MiB data, 1 MiB hole, 1 MiB data, 1 MiB hole
truncate -s 4M "$W/sparse"
t "$W/sparse" rw fill,0,1M,5 fill,2M,1M,5
expect_equal "$(du -k "$W/sparse" | cut -f1)" 2048 "the source has holes"
zstd -q "$W/sparse" -o "$W/sparse.zst"
mkdir "$W/t"
cp --sparse=always "$W/sparse" "$W/t/vram"
tar -C "$W/t" -cSf "$W/a.tar" vram

# right COMMAND...: it writes the four MiB and nothing else
right() {
	t "$v" rw fill,0,6M,1
	"$@"
	t "$v" r verify,0,1M,5 same,1M,1M,0 verify,2M,1M,5 same,3M,1M,0 \
		verify,4M,2M,1 "size:$CAP" || fail "wrong bytes after: $*"
}
to_vram() {
	"$@" >"$v"
}
right cp "$W/sparse" "$v"
right cp --sparse=never "$W/sparse" "$v"
right cp --sparse=always "$W/sparse" "$v"
right busybox cp "$W/sparse" "$v"
right dd if="$W/sparse" of="$v" bs=64K status=none
right to_vram cat "$W/sparse"
right tar -C "$M/die0" -xSf "$W/a.tar" --overwrite
right to_vram tar -xSOf "$W/a.tar"
right rsync --inplace --whole-file "$W/sparse" "$v"
right rsync --inplace --sparse "$W/sparse" "$v"
right zstd -q -d -f "$W/sparse.zst" -o "$v"
right zstd -q -d -f --sparse "$W/sparse.zst" -o "$v"

# has COMMAND: it is installed here; these are too large to ask for
has() {
	command -v "$1" >"$W/log" || {
		echo "without $1, which is not installed"
		return 1
	}
}
if has qemu-img; then
	qemu-img convert -f raw -O qcow2 "$W/sparse" "$W/sparse.qcow2"
	right qemu-img convert -f qcow2 -O raw "$W/sparse.qcow2" "$v"
	right qemu-img convert -W -m 8 -f qcow2 -O raw "$W/sparse.qcow2" "$v"
	right qemu-img convert -S 4k -f raw -O raw "$W/sparse" "$v"
fi
if has lz4; then
	lz4 -q "$W/sparse" "$W/sparse.lz4"
	right lz4 -q -d -f "$W/sparse.lz4" "$v"
fi

# These seek over the zeros at the end, and then ask for the size, which is that
# of the die: they think that they need not say how long their image is.
all_but_the_end() {
	t "$v" rw fill,0,6M,1
	"$@"
	t "$v" r verify,0,1M,5 same,1M,1M,0 verify,2M,1M,5 verify,3M,3M,1 ||
		fail "wrong bytes after: $*"
}
all_but_the_end dd if="$W/sparse" of="$v" bs=64K conv=sparse status=none
if has ddrescue; then
	all_but_the_end ddrescue -q --force --truncate --sparse "$W/sparse" \
		"$v" "$W/map"
fi

# conv=notrunc leaves out what it skips, as on a disk
t "$v" rw fill,0,6M,1
dd if="$W/sparse" of="$v" bs=64K conv=sparse,notrunc status=none
t "$v" r verify,0,1M,5 verify,1M,1M,1 verify,2M,1M,5 verify,3M,3M,1
