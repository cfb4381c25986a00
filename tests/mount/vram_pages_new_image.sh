#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a new image leaves out reads as zeros through the page cache, too, which
# had the old bytes: whatever made the image longer, and with -o cache as well
. "$(dirname "$0")/lib.sh"
need_cmd python3
VRAM=64M mount_sim

cat >"$W/holes.py" <<'END'
import ctypes, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long,
                           ctypes.c_long]
M = 1 << 20
vram, is_cached = sys.argv[1], len(sys.argv) > 2
out = os.open(vram, os.O_RDWR)
view = mmap.mmap(out, 4 * M, mmap.MAP_PRIVATE, mmap.PROT_READ)
def write(fd):
    assert os.pwrite(fd, b"n", 3 * M + 100) == 1
def allocate(fd):
    assert not libc.fallocate(fd, 0, 0, 3 * M + 100)
def zero_range(fd):
    assert not libc.fallocate(fd, 16, 3 * M, 100)
def size(fd):
    os.ftruncate(fd, 3 * M + 100)
def size_with_holes(fd):
    assert os.pwrite(fd, b"n", 4096) == 1
    os.ftruncate(fd, 3 * M + 100)
def copy(fd):
    assert os.copy_file_range(out, fd, 1, 3 * M + 500, 3 * M + 100) == 1
def holes_are_zeros(end):
    skip = 4097
    return view[skip:end] == bytes(end - skip) and \
        os.pread(out, end - skip, skip) == bytes(end - skip)
for change in write, allocate, zero_range, size, size_with_holes, copy:
    for i in range(4):
        os.pwrite(out, b"o" * M, i * M)
    os.fsync(out)
    fd = os.open(vram, os.O_RDWR | os.O_TRUNC)
    assert view[:4 * M] == b"o" * (4 * M)
    change(fd)
    # pages that a write through the cache keeps locked go after its answer
    until = time.monotonic() + (20 if is_cached and change == write else 0)
    while not holes_are_zeros(3 * M + 100):
        assert time.monotonic() < until, change
        time.sleep(0.001)
    assert view[3 * M + 200:] == b"o" * (M - 200), change
    os.close(fd)
    assert holes_are_zeros(3 * M + 100), change
END
python3 "$W/holes.py" "$(die 0)/vram"
VRAM=64M mount_sim cache
python3 "$W/holes.py" "$(die 0)/vram" cache
