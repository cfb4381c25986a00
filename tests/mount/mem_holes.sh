#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Holes read as zeroes and take no memory; what is cut off never comes back
. "$(dirname "$0")/lib.sh"
mount_mem
f=$(mem 0)/f
blocks() { stat -c %b "$f"; }
M2=$((2 << 20))

truncate -s 900M "$f"
expect_equal "$(stat -c '%s %b' "$f")" "$((900 << 20)) 0" "a file of nothing"
cmp -n $((64 << 20)) "$f" /dev/zero
dd if=/dev/urandom of="$f" bs=4k count=1 seek=$(((100 << 20) / 4096)) \
	conv=notrunc status=none
# a chunk that far in has an eighth of what is before it
expect_equal "$(blocks)" $(((12 << 20) / 512)) "one chunk"
t "$f" r "lseek,0,data:$((100 << 20))" "lseek,0,hole:0" \
	"lseek,$((100 << 20)),hole:$((112 << 20))" \
	"lseek,$((112 << 20)),data:ENXIO" "lseek,$((900 << 20)),hole:ENXIO"

# cut in the middle of what was written, made longer again: zeroes
random_file "$W/in" 6000000
cat "$W/in" >"$f"
truncate -s 1000001 "$f"
truncate -s 6000000 "$f"
cmp -n 1000001 "$f" "$W/in"
cmp -n 4999999 -i 1000001:0 "$f" /dev/zero
expect_equal "$(blocks)" $((M2 / 512)) "what is cut off is given back"
# a gap before what is written behind the end
truncate -s 1000001 "$f"
printf end | dd of="$f" bs=1 seek=1500000 conv=notrunc status=none
cmp -n 499999 -i 1000001:0 "$f" /dev/zero
expect_equal "$(tail -c 3 "$f")" end "what was written behind the end"

# punched: whole chunks are given back, the rest is zero
cat "$W/in" >"$f"
fallocate -p -o 1000000 -l 4000000 "$f"
expect_equal "$(blocks)" $((2 * M2 / 512)) "one chunk in the middle"
expect_equal "$(stat -c %s "$f")" 6000000 "the length stays"
cmp -n 1000000 "$f" "$W/in"
cmp -n 4000000 -i 1000000:0 "$f" /dev/zero
cmp <(tail -c 1000000 "$f") <(tail -c 1000000 "$W/in")
# to the end: the last one goes though it is not full
fallocate -p -o $((2 * M2)) -l $((M2 * 100)) "$f"
expect_equal "$(blocks)" $((M2 / 512)) "the last chunk"

# memory before it is written
rm "$f"
fallocate -l 10000000 "$f"
expect_equal "$(stat -c '%s %b' "$f")" "10000000 20480" "fallocate"
cmp -n 10000000 "$f" /dev/zero
fallocate -n -l 20000000 "$f"
expect_equal "$(stat -c '%s %b' "$f")" "10000000 40960" "fallocate -n"
cat "$W/in" >"$f"
fallocate -z -o 5 -l 5999990 "$f"
head -c 5 "$f" | cmp -n 5 - "$W/in"
cmp -n 5999990 -i 5:0 "$f" /dev/zero
cmp <(tail -c 5 "$f") <(tail -c 5 "$W/in")
expect_error "not supported" fallocate -c -o 0 -l 4096 "$f"
fallocate -d "$f"
expect_equal "$(blocks)" $((2 * M2 / 512)) "fallocate -d"
# no file is longer than all addresses
expect_error "File too large" truncate -s 7E "$f"
