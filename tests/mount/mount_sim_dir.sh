#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# With sim_dir the memory outlives the daemon; without it nothing stays behind
. "$(dirname "$0")/lib.sh"
need_sim "its memory files"
mkdir "$W/dies" "$W/tmp"

VRAM=12G mount_sim "sim_dir=$W/dies"
for d in 0 1 2 3 4 5; do
	t "$(die $d)/vram" rw "fill,$((d << 30)),1M,$d" "fill,11G,1M,$d"
done
unmount
expect_equal "$(du -sm "$W/dies" | awk '{ print ($1 < 40) }')" 1 "sparse"
VRAM=12G mount_sim "sim_dir=$W/dies"
for d in 0 1 2 3 4 5; do
	t "$(die $d)/vram" r "verify,$((d << 30)),1M,$d" "verify,11G,1M,$d"
done
# reading holes does not allocate them, zeroes are holes again
before=$(du -sm "$W/dies" | cut -f1)
head -c 200M "$(die 0)/vram" | tail -c 100M | cmp -n 100M - /dev/zero
t "$(die 1)/vram" rw fallocate,punch,0,12G
after=$(du -sm "$W/dies" | cut -f1)
[ "$after" -le "$before" ] || fail "$before MiB became $after MiB"
unmount

# one of another shape is refused, named, and left as it was
rm "$W/dies/die3"
others() {
	stat -c '%n %i %s %y' "$W"/dies/die[!2]
}
listing=$(others)
mkdir "$W/refused"
expect_error "$W/dies/die0 holds 12 GiB, not 512 MiB" "$K80FS" \
	-o "backend=sim,sim_vram=512M,sim_dir=$W/dies" "$W/refused"
rm "$W/dies/die2"
mkfifo "$W/dies/die2"
expect_error "$W/dies/die2: not a regular file" "$K80FS" \
	-o "backend=sim,sim_vram=12G,sim_dir=$W/dies" "$W/refused"
rm "$W/dies/die2"
mkdir "$W/dies/die2"
expect_error "$W/dies/die2: not a regular file" "$K80FS" \
	-o "backend=sim,sim_vram=12G,sim_dir=$W/dies" "$W/refused"
expect_equal "$(others)" "$listing" "the folder"

export TMPDIR=$W/tmp
VRAM=64M mount_sim
t "$(die 0)/vram" rw pwrite,0,1M,1
expect_equal "$(find "$W/tmp" -type f)" "" "files in TMPDIR"
unmount
expect_equal "$(find "$W/tmp" -mindepth 1)" "" "left in TMPDIR"
VRAM=64M mount_sim
t "$(die 0)/vram" r same,0,1M,0
