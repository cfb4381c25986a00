#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Files in device memory are made, grown, cut, renamed and removed as any other
. "$(dirname "$0")/lib.sh"
DIES=2 mount_mem
d=$(mem 0)
takes() { [ "$(number 0 mem_bytes)" = $(($1 << 20)) ]; }

expect_equal "$(stat -c '%F %a' "$d")" "directory 1775" "the folder"
expect_equal "$(ls -A "$M/die0")" "$(printf 'ctl\nmem\nstatus')" "the die"
random_file "$W/in" 10000001
cp "$W/in" "$d/a"
cmp "$W/in" "$d/a"
expect_equal "$(stat -c '%s %h' "$d/a")" "10000001 1" "size and links"
# chunks of 2 MiB: five of them
expect_equal "$(stat -c %b "$d/a")" 20480 "blocks"
echo line >>"$d/a"
expect_equal "$(tail -c 5 "$d/a")" line "appended"
expect_equal "$(stat -c %s "$d/a")" 10000006 "size"

# a name is another's the next moment, and its memory free
cp "$d/a" "$d/b"
mv "$d/b" "$d/a"
expect_equal "$(ls "$d")" a "after a rename over another"
head -c 10000001 "$d/a" | cmp - "$W/in"
await takes 10 || fail "$(number 0 mem_bytes) bytes are taken"
printf text >"$d/c"
python3 - "$d" <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
d = sys.argv[1].encode()
def rename(a, b, flags):
    ret = libc.renameat2(-100, d + b"/" + a, -100, d + b"/" + b, flags)
    return ctypes.get_errno() if ret else 0
assert rename(b"a", b"c", 1) == 17, "NOREPLACE"
assert rename(b"c", b"a", 2) == 0, "EXCHANGE"
assert open(d + b"/a", "rb").read() == b"text"
assert os.path.getsize(d + b"/c") == 10000006
assert rename(b"c", b"nothing", 2) == 2
assert rename(b"a", b"a", 0) == 0
assert rename(b"a", b"b", 4) == 22
END
# to another die it is a copy
mv "$d/c" "$(mem 1)/c"
head -c 10000001 "$(mem 1)/c" | cmp - "$W/in"
expect_equal "$(ls "$d")" a "after a move to another die"

# a name has 255 bytes, any but two
long=$(printf '%0255d' 0)
: >"$d/$long"
expect_error "File name too long" touch "$d/${long}1"
odd=$'new\nline \xff*'
echo x >"$d/$odd"
expect_equal "$(cat "$d/$odd")" x "an odd name"
rm "$d/$long" "$d/$odd"

# nothing but plain files
for c in "mkdir $d/x" "ln -s a $d/x" "ln $d/a $d/x" "mkfifo $d/x"; do
	# shellcheck disable=SC2086 # words
	expect_error "not permitted" $c
done
[ "$(id -u)" != 0 ] || expect_error "not permitted" mknod "$d/x" c 1 3
expect_error "not permitted" touch "$M/die0/x"
expect_equal "$(ls "$d")" a "what is there"
# no other attributes
t "$d/a" r setxattr,user.x,1:EOPNOTSUPP
rm "$d/a" "$(mem 1)/c"
freed 0
freed 1
expect_equal "$(number 0 mem_files)" 0 "files"
