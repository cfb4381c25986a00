#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two programs map a file: they see each other's bytes and the file's, and the
# mapping keeps its memory whatever becomes of file and programs
. "$(dirname "$0")/lib.sh"
DIES=2 VRAM=256M mount_mem
d=$(mem 0)
random_file "$W/data" 5000000
cp "$W/data" "$d/x"
start=$(od -An -tx1 -N8 "$W/data" | tr -d ' \n')
prog a
prog b
expect_equal "$(ask a map "$d/x" write)" "ok 5000000"
expect_equal "$(ask b map "$d/x")" "ok 5000000"
expect_equal "$(ask a read 0 8)" "ok $start"
ask a write 4999996 0badcafe
expect_equal "$(ask b read 4999992 8 | tail -c 9)" 0badcafe
expect_equal "$(tail -c 4 "$d/x" | od -An -tx1 | tr -d ' ')" 0badcafe
# what is written to the file the programs see, and the next reader what they
# write, also one that had begun to read
exec 5<"$d/x"
head -c 1048576 <&5 >/dev/null
printf '\x11\x22\x33\x44' | dd of="$d/x" bs=1 seek=3000000 conv=notrunc \
	status=none
expect_equal "$(ask b read 3000000 4)" "ok 11223344"
ask a write 2000000 55667788
expect_equal "$(dd bs=1048576 skip=0 count=3 status=none <&5 |
	tail -c +$((2000001 - 1048576)) | head -c 4 | od -An -tx1 | tr -d ' ')" \
	55667788
exec 5<&-

# without write=True it is a guard against accidents
[[ $(ask b write 0 00) = error* ]] || fail "b could write"
prog_end b
prog b
# a mapping does not grow, and keeps what it has
expect_equal "$(ask b map "$d/x")" "ok 5000000"
truncate -s 9000000 "$d/x"
ask a write 0 99
expect_equal "$(ask b read 0 1)" "ok 99"
expect_equal "$(ask a map "$d/x" write)" "ok 9000000"
expect_equal "$(ask a read 5000000 4)" "ok 00000000"
# a hole is memory once it is mapped
truncate -s 40M "$d/hole"
expect_equal "$(stat -c %b "$d/hole")" 0
expect_equal "$(ask a map "$d/hole" write)" "ok 41943040"
[ "$(stat -c %b "$d/hole")" -ge 81920 ] || fail "the hole is still one"
ask a write 41943039 77
expect_equal "$(tail -c 2 "$d/hole" | od -An -tx1)" " 00 77"
# of no length
: >"$d/empty"
expect_equal "$(ask a map "$d/empty")" "ok 0"
ask a close

# removed while b has it: its memory is b's until that ends, however it does
rm "$d/x" "$d/hole" "$d/empty"
expect_equal "$(ls "$d")" ""
expect_equal "$(ask b read 3000000 4)" "ok 11223344"
free=$(number 0 memory_free)
total=$(number 0 memory_total)
[ "$free" -lt "$total" ] || fail "the memory of a mapped file is free"
prog_end b KILL
wait_status 0 memory_free "$total"
prog_end a

# on the die that it is on
cp "$W/data" "$(mem 1)/y"
prog c
expect_equal "$(ask c map "$(mem 1)/y")" "ok 5000000"
expect_equal "$(ask c read 0 8)" "ok $start"
ask c close
[[ $(ask c raw "$(mem 1)/y") = "error ENXIO "* ]] || fail "no context: taken"
ask c context 0
answer=$(ask c raw "$(mem 1)/y")
[[ $answer = "error EXDEV the file is on GPU-"* ]] || fail "$answer"
ask c context 1
expect_equal "$(ask c raw "$(mem 1)/y")" "ok 5000000"
prog_end c
rm "$(mem 1)/y"
