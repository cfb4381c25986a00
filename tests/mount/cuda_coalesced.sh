#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Small writes are gathered and sent later: everybody sees them at once all the
# same, in the order in which they were answered. One process with several
# descriptors: the end of a process would flush.
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_cmd python3
# every copy takes 20 ms: what nobody waits for is certainly late
[ "${K80_LIBCUDA:-}" = real ] || use_standin STANDIN_COPY_US=20000
VRAM=64M mount_cuda
last=$(die $((N - 1)))/vram

python3 - "$(die 0)/vram" "$last" <<'END'
import ctypes, os, sys

K, M = 1 << 10, 1 << 20
a, b = (os.open(sys.argv[1], os.O_RDWR) for i in range(2))
other = os.open(sys.argv[2], os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]


def put(fd, off, length, byte):
    assert os.pwrite(fd, bytes([byte]) * length, off) == length


def same(fd, off, length, byte):
    got = os.pread(fd, length, off)
    assert got == bytes([byte]) * length, \
        f"{length} bytes at {off}: wanted {byte}, got {set(got)}"


# gathered: seen by another file, by its own, and by one that opens now
put(a, 0, 4 * K, 1)
put(a, 4 * K, 4 * K, 2)
put(a, 8 * K, 100, 3)
same(b, 0, 4 * K, 1)
put(a, 8 * K + 100, 50, 4)
same(a, 8 * K, 100, 3)
same(b, 8 * K + 100, 50, 4)
put(a, 8 * K + 150, 50, 5)
c = os.open(sys.argv[1], os.O_RDONLY)
same(c, 8 * K + 150, 50, 5)
same(c, 4 * K, 4 * K, 2)

# over what is gathered: inside, across its start and end, by others
for i in range(3):
    put(a, M + i * 4 * K, 4 * K, 1)
put(b, M + 6 * K, K, 2)
put(a, M + 12 * K, 4 * K, 3)
put(b, M - K, 2 * K, 4)
put(b, M + 15 * K, 2 * K, 5)
for off, length, byte in ((-1, 2, 4), (1, 5, 1), (6, 1, 2), (7, 5, 1),
                          (12, 3, 3), (15, 2, 5)):
    same(c, M + off * K, length * K, byte)

# a large one over a small one, and the other way round, without any wait
put(a, 2 * M, 4 * K, 1)
put(b, 2 * M, M, 2)
put(a, 2 * M + 4 * K, 4 * K, 3)
put(b, 2 * M, 512 * K, 4)
put(a, 2 * M + 12 * K, 8 * K, 5)
same(c, 2 * M, 12 * K, 4)
same(c, 2 * M + 12 * K, 8 * K, 5)
same(c, 2 * M + 20 * K, 492 * K, 4)
same(c, 2 * M + 512 * K, 512 * K, 2)

# cleared, and copied to and from
put(a, 4 * M, 64 * K, 7)
assert libc.fallocate(b, 0x10, 4 * M + 4 * K, 4 * K) == 0
put(a, 4 * M + 6 * K, K, 8)
for off, length, byte in ((0, 4, 7), (4, 2, 0), (6, 1, 8), (7, 1, 0), (8, 56, 7)):
    same(c, 4 * M + off * K, length * K, byte)
put(a, 5 * M, 8 * K, 8)
put(b, 6 * M, 16 * K, 1)
assert os.copy_file_range(a, a, 8 * K, 5 * M, 6 * M) == 8 * K
same(b, 6 * M, 8 * K, 8)
same(b, 6 * M + 8 * K, 8 * K, 1)
put(a, 5 * M, 8 * K, 9)
put(other, 7 * M, 8 * K, 1)
assert os.copy_file_range(a, other, 8 * K, 5 * M, 7 * M) == 8 * K
same(other, 7 * M, 8 * K, 9)

# more sequences than there are buffers to gather in
for n in range(4):
    for i in range(40):
        put((a, b)[i % 2], 8 * M + i * M + n * 4 * K, 4 * K, i + n + 1)
for n in range(4):
    for i in range(40):
        same(c, 8 * M + i * M + n * 4 * K, 4 * K, i + n + 1)

# the same bytes again and again; one sequence, longer than a buffer
for i in range(100):
    put(a, 50 * M, 512, i)
same(b, 50 * M, 512, 99)
for i in range(200):
    put(a, 51 * M + i * 5000, 5000, i)
os.fsync(a)
for i in range(200):
    same(b, 51 * M + i * 5000, 5000, i)
END
expect_status root last_error none
