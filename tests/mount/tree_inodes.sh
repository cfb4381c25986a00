#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Inode numbers are all different, agree with readdir's and never change
. "$(dirname "$0")/lib.sh"
mount_sim

numbers() {
	find "$M" -printf '%P %i\n' | sort
}
first=$(numbers)
expect_equal "$(cut -d' ' -f2 <<<"$first" | sort -u | wc -l)" \
	"$(wc -l <<<"$first")" "different inode numbers"
expect_equal "$(ls -i "$M/die0" | awk '{ print $2, $1 }' | sort)" \
	"$(sed -n 's|^die0/||p' <<<"$first" | sort)" "ls -i"
if [ "$(id -u)" = 0 ]; then
	drop_caches 2
fi
head -c 1 "$M/die1/vram" >"$W/byte"
expect_equal "$(numbers)" "$first" "inode numbers later"
unmount
mount_sim
expect_equal "$(numbers)" "$first" "inode numbers of the next mount"
