#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cat, head, tail, cmp, xxd, od, GNU and busybox, on a die
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim
v=$(die 0)/vram

random_file "$W/in" 3000000
cat "$W/in" >"$v"
printf 'the end' | dd of="$v" bs=1 seek=$((CAP - 7)) conv=notrunc status=none
head -c 3000000 "$v" | cmp - "$W/in"
busybox head -c 3000000 "$v" | cmp - "$W/in"
expect_equal "$(tail -c 7 "$v")" "the end" "tail -c"
expect_equal "$(tail -c 4 <"$v")" " end" "tail -c of stdin"
expect_equal "$(busybox tail -c 7 "$v")" "the end" "busybox tail -c"
cmp -n 3000000 "$W/in" "$v"
busybox cmp -n 3000000 "$W/in" "$v"
printf x | dd of="$v" bs=1 seek=1234567 conv=notrunc status=none
if [ "$(dd if="$W/in" bs=1 skip=1234567 count=1 status=none)" != x ]; then
	cmp -l -n 3000000 "$W/in" "$v" >"$W/log" || [ $? = 1 ]
	expect_equal "$(awk '{ print $1 }' "$W/log")" 1234568 "cmp -l"
fi
expect_equal "$(xxd -p -l 7 -s $((CAP - 7)) "$v")" 74686520656e64 "xxd"
expect_equal "$(busybox xxd -p -l 7 -s $((CAP - 7)) "$v")" 74686520656e64
expect_equal "$(od -An -tx1 -j $((CAP - 3)) "$v" | xargs)" "65 6e 64" "od"
expect_equal "$(xxd -l 64 "$v")" "$(xxd -l 64 "$W/in")" "xxd dump"
# xxd -r patches in place
echo "00000010: 4142 43" | xxd -r - "$v"
expect_equal "$(dd if="$v" bs=1 skip=16 count=3 status=none)" ABC "xxd -r"
dd if="$v" bs=1 count=16 status=none | cmp -n 16 - "$W/in"
