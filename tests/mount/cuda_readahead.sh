#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A sequential reader is read ahead of, and never gets what was there before a
# write, clearing or copy that was answered
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_cmd python3
[ "${K80_LIBCUDA:-}" = real ] || use_standin STANDIN_COPY_US=5000
VRAM=64M mount_cuda

python3 - "$(die 0)" <<'END'
import ctypes, os, sys

K, M = 1 << 10, 1 << 20
path = sys.argv[1] + "/vram"
writer = os.open(path, os.O_RDWR)
size = os.fstat(writer).st_size
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
model = bytearray(size)


def put(off, length, byte):
    model[off:off + length] = bytes([byte]) * length
    assert os.pwrite(writer, model[off:off + length], off) == length


def clear(off, length):
    model[off:off + length] = bytes(length)
    assert libc.fallocate(writer, 0x11, off, length) == 0


def copy(off, length):
    src = 60 * M
    put(src, length, 0x77)
    model[off:off + length] = model[src:src + length]
    assert os.copy_file_range(writer, writer, length, src, off) == length


def zero(off, length):
    model[off:off + length] = bytes(length)
    with open(sys.argv[1] + "/ctl", "w") as ctl:
        ctl.write(f"zero {off} {length}\n")


class Reader:
    def __init__(self, step, off=0):
        self.fd = os.open(path, os.O_RDONLY)
        self.step, self.off = step, off

    def read(self, times=1):
        for i in range(times):
            got = os.pread(self.fd, self.step, self.off)
            want = model[self.off:self.off + self.step]
            assert got == want, f"{self.step} bytes at {self.off} are old"
            self.off += len(got)


for i in range(48):
    put(i * M, M, i + 1)
for step in 4 * K, 5000, 128 * K, M:
    r = Reader(step)
    r.read(6)
    # the very next bytes, further on, over the end of a window, one byte
    for change in put, clear, copy, zero:
        args = (0x99,) if change == put else ()
        change(r.off, 4 * K, *args)
        r.read(2)
        change(r.off + step // 2 + 1, 3 * K, *args)
        change(r.off + M - K, 2 * K, *args)
        change(r.off + 2 * M, M, *args)
        r.read(max(3, 3 * M // step) if step > 5000 else 30)
        change(r.off + 1, 1, *args)
        r.read()

# two readers and a writer between them
ahead, behind = Reader(64 * K, 8 * M), Reader(64 * K, 8 * M)
for i in range(200):
    ahead.read()
    if i % 3 == 0:
        put(ahead.off - 32 * K, 64 * K, i % 250)
    if i > 20:
        behind.read()

# to the end, and past it; and back
r = Reader(512 * K, size - 5 * M - 1)
r.read(11)
assert r.off == size and os.pread(r.fd, 1, r.off) == b""
r.off = 0
r.read(6)
END
expect_status root last_error none
