#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# -o cache: MAP_SHARED works; close-to-open; data reaches the die
. "$(dirname "$0")/lib.sh"
mount_sim cache
v=$(die 0)/vram

t "$v" rw fill,0,1M,1
t "$v" rw mmap,shared,rw,0,64K poke,4096,4096,7 msync same,4096,4096,7
t "$v" r verify,0,4096,1 same,4096,4096,7 verify,8192,100000,1
t "$v" rw mmap,shared,rw,1M,64K poke,1M,65536,9 msync fsync close
t "$(die 1)/vram" rw mmap,shared,rw,0,4096 poke,0,4096,3 msync
t "$v" r+direct same,1M,64K,9
t "$v" r mmap,shared,r,1M,64K peek,1M,65536,9
/usr/bin/python3 - "$v" <<'P'
import mmap, sys
with open(sys.argv[1], "r+b") as f:
    with mmap.mmap(f.fileno(), 1 << 20) as m:
        m[100:105] = b"hello"
        m.flush()
    f.seek(100)
    assert f.read(5) == b"hello"
P
expect_equal "$(dd if="$v" bs=1 skip=100 count=5 status=none)" hello
t "$v" rw "pwrite,$CAP,1,1:ENOSPC" "size:$CAP" ftruncate,0 "size:$CAP" \
	"ftruncate,$((CAP + 1)):EFBIG"
expect_error "No space left" bash -c "echo x >>'$v'"
dd if=/dev/urandom of="$W/in" bs=1M count=8 status=none
cp "$W/in" "$v"
cmp -n 8388608 "$W/in" "$v"
unmount
