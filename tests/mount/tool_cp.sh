#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cp of a dense file, from a die and to a die, GNU and busybox, cat and mv
. "$(dirname "$0")/lib.sh"
need_small_dies "dies small enough to be copied whole"
VRAM=64M mount_sim

random_file "$W/in" "$CAP"
random_file "$W/short" 12345678
cp "$W/in" "$(die 0)/vram"
cmp "$W/in" "$(die 0)/vram"
cp "$(die 0)/vram" "$W/out"
cmp "$W/in" "$W/out"
cp "$W/short" "$(die 0)/vram"
cmp -n 12345678 "$W/short" "$(die 0)/vram"
cmp -i 12345678 "$W/in" "$(die 0)/vram"
busybox cp "$W/in" "$(die 1)/vram"
busybox cp "$(die 1)/vram" "$W/out"
cmp "$W/in" "$W/out"
cp --preserve=timestamps "$W/in" "$(die 2)/vram"
cmp "$W/in" "$(die 2)/vram"
cp -r "$M/die2" "$W/copy"
cmp "$W/in" "$W/copy/vram"
expect_equal "$(head -1 "$W/copy/status")" "die 2"
# a file that is too large: what fits arrives
random_file "$W/big" $((CAP + 1000))
expect_error "No space left" cp "$W/big" "$(die 3)/vram"
cmp -n "$CAP" "$W/big" "$(die 3)/vram"
expect_error "Operation not permitted" cp --remove-destination "$W/in" \
	"$(die 3)/vram"
expect_error "Operation not permitted" mv "$W/short" "$(die 3)/vram"
[ -s "$W/short" ] || fail "mv took the file away"
