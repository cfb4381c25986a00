#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The compute folder: there only when asked for; names, modes, sizes, what can
# be opened, cut, appended and written beyond
. "$(dirname "$0")/lib.sh"
mount_sim
[ ! -e "$(die 0)/compute" ] || fail "compute without -o compute"
unmount
mount_compute
c=$(die 1)/compute
expect_equal "$(cd "$c" && stat -c '%n %A %F' -- *)" \
	"ctl -rw-rw---- regular file
in -rw-rw---- regular file
log -r--r--r-- regular empty file
module -rw-rw---- regular file
out -rw-rw---- regular file
status -r--r--r-- regular file"
expect_equal "$(stat -c %A "$c")" drwxr-xr-x
expect_equal "$(stat -c %h "$(die 1)")" 3 "links of a die"
expect_equal "$(stat -c '%s %b %o' "$c/in")" "4194304 8192 1048576"
for f in ctl status log module; do
	expect_equal "$(stat -c %s "$c/$f")" "$(wc -c <"$c/$f")" "size of $f"
done
t "$c/status" w:EACCES
t "$c/log" w:EACCES
t "$c/status" rw:EACCES
for f in in out; do
	# offline
	t "$c/$f" r pread,0,10:ENXIO pread,4M,10:0
	t "$c/$f" w pwrite,0,10,1:ENXIO pwrite,4M,1,1:ENOSPC
done
compute 1 online
for f in in out; do
	t "$c/$f" rw same,0,4M,0 pwrite,4194300,10,7:4 pwrite,4M,1,1:ENOSPC \
		ftruncate,4M ftruncate,0 ftruncate,4194305:EFBIG same,0,1000,0 \
		pwrite,17,3,9 same,17,3,9 same,0,17,0 same,20,1000,0 \
		pread,4194299,10:5 pread,5M,1:0
	t "$c/$f" w+append write,1,1:ENOSPC
	t "$c/$f" w+trunc write,10,3
	t "$c/$f" rw+direct same,0,10,3 pwrite,1,1,4 same,1,1,4
	t "$c/$f" rw mmap,shared,rw,0,4096:ENODEV lseek,0,data:0 \
		lseek,0,hole:4M lseek,4M,data:ENXIO fsync
done
expect_error "Operation not permitted" rm "$c/in"
expect_error "Operation not permitted" mkdir "$c/x"
random_file "$W/r" 4194304
dd if="$W/r" of="$c/in" bs=64k status=none
cmp "$W/r" "$c/in"
cp "$W/r" "$c/out"
expect_equal "$(sum <"$c/out")" "$(sum <"$W/r")"
expect_error "No space left" dd if=/dev/zero of="$c/in" bs=1M count=5
