#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The trace of six dd's that read six simulated dies at once, to standard output
set -eu
k80fs=${K80FS:-$(cd "$(dirname "$0")/../.." && pwd)/build/k80fs}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/k80line.XXXXXX")
dir=$work/mnt
trap '! mountpoint -q "$dir" || umount "$dir"; rm -rf --one-file-system "$work"' EXIT
mkdir "$dir" "$work/dies"
mount_it() {
	"$k80fs" -o backend=sim,sim_vram=64M,sim_swap_us=2000,sim_dir="$work/dies" "$dir"
}
# memory that has never been written is made by its first read; a new mount has
# nothing of that in its trace
mount_it
for die in "$dir"/die?; do
	dd if=/dev/urandom of="$die/vram" bs=1M count=64 conv=notrunc,fsync status=none
done
umount "$dir"
until mount_it 2>/dev/null; do # the old daemon ends a moment later
	sleep 0.1
done
pids=()
for die in "$dir"/die?; do
	dd if="$die/vram" of=/dev/null bs=1M count=48 status=none &
	pids+=($!)
done
wait "${pids[@]}"
cat "$dir/trace"
