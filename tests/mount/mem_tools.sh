#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools that copy, pack, skip zeros and look for holes find files like any other
# timeout: 300
. "$(dirname "$0")/lib.sh"
DIES=2 mount_mem
d=$(mem 0) e=$(mem 1)
random_file "$W/in" 3000001
cp "$W/in" "$W/sparse"
truncate -s 20M "$W/sparse"
dd if="$W/in" of="$W/sparse" bs=1M seek=15 conv=notrunc status=none

is_sparse() { # FILE
	cmp "$W/sparse" "$1"
	[ "$(stat -c %b "$1")" -lt $(((18 << 20) / 512)) ] ||
		fail "$1 takes $(stat -c %b "$1") blocks"
}
cp --sparse=always "$W/sparse" "$d/cp"
is_sparse "$d/cp"
cp "$d/cp" "$d/cp2"
is_sparse "$d/cp2"
# between cards, too, and back
cp "$d/cp" "$e/cp3"
is_sparse "$e/cp3"
cp "$e/cp3" "$W/back"
cmp "$W/sparse" "$W/back"
dd if="$W/sparse" of="$d/dd" bs=64k conv=sparse status=none
is_sparse "$d/dd"
tar -C "$W" -cSf "$d/tar" sparse
mkdir "$W/untarred"
tar -C "$W/untarred" -xf "$d/tar"
cmp "$W/sparse" "$W/untarred/sparse"
tar -C "$d" -xSf "$d/tar"
is_sparse "$d/sparse"
cmp "$d/sparse" "$d/cp"
cp "$W/sparse" "$d/dig"
fallocate -d "$d/dig"
is_sparse "$d/dig"
if command -v rsync >/dev/null; then
	rsync -S "$W/sparse" "$d/rsync"
	is_sparse "$d/rsync"
	rsync -t "$W/in" "$d/rsync"
	cmp "$W/in" "$d/rsync"
fi
if command -v qemu-img >/dev/null; then
	qemu-img convert -f raw -O qcow2 "$d/cp" "$d/qcow2"
	qemu-img convert -f qcow2 -O raw "$d/qcow2" "$d/raw"
	is_sparse "$d/raw"
fi
python3 - "$d/py" <<'END'
import mmap, os, sys
with open(sys.argv[1], "w+b") as f:
    f.write(b"abc" * 100000)
    f.seek(100)
    f.write(b"X")
    f.truncate(200000)
    f.flush()
    m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    assert m[100:103] == b"Xcb"[:1] + m[101:103] and len(m) == 200000
    os.pwrite(f.fileno(), b"YYY", 99)
    m2 = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    assert m2[99:102] == b"YYY", m2[99:102]
    try:
        mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED)
    except OSError as err:
        assert err.errno == 19, err
    else:
        raise SystemExit("MAP_SHARED works")
END
# O_DIRECT, odd offsets, sendfile and splice
t "$d/ops" rw+creat+direct pwrite,1,5,7 pread,0,6 pwrite,3000000,70001,9 \
	same,3000000,70001,9 same,6,2999994,0 sendfile,3000000,4096,9 \
	splice,3000000,4096,9 fsync size:3070001
rm "$d"/* "$e"/*
freed 0
freed 1
