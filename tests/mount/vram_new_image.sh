#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# After O_TRUNC, or a truncation to 0 by descriptor, an open file makes a new
# image: what it leaves out reads as zeros, what lies behind its end stays
. "$(dirname "$0")/lib.sh"
need_cmd python3 dd
VRAM=64M mount_sim

python3 - "$M" <<'END'
import ctypes, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
vram = sys.argv[1] + "/die0/vram"
K, M = 1 << 10, 1 << 20
out = os.open(vram, os.O_RDWR)
def old():
    for off in range(0, 32 * M, M):
        os.pwrite(out, b"o" * M, off)
def is_all(c, start, end):
    at = start
    while at < end:
        got = os.pread(out, min(M, end - at), at)
        assert got == c * len(got), (c, at, got[:20])
        at += len(got)
def trunc():
    return os.open(vram, os.O_RDWR | os.O_TRUNC)

# nothing happens before something is written
old()
os.close(trunc())
is_all(b"o", 0, 32 * M)

# holes are zeros at once, for every reader, and after the close
fd = trunc()
assert os.pwrite(fd, b"n" * K, 5 * M + 7) == K
def check():
    is_all(b"\0", 0, 5 * M + 7)
    is_all(b"n", 5 * M + 7, 5 * M + 7 + K)
    is_all(b"o", 5 * M + 7 + K, 32 * M)
check()
assert os.pread(fd, 3, 0) == bytes(3)
os.pwrite(fd, b"n" * K, 5 * M + 7)
os.close(os.dup(fd))
check()
os.fsync(fd)
check()
os.close(fd)
check()

# out of order, with an fsync in between: no byte that was written goes
old()
fd = trunc()
os.pwrite(fd, b"b" * 100, 3 * M)
os.fsync(fd)
os.pwrite(fd, b"a" * 100, M)
os.pwrite(fd, b"c" * 100, 4 * M)
os.close(fd)
is_all(b"\0", 0, M)
is_all(b"a", M, M + 100)
is_all(b"\0", M + 100, 3 * M)
is_all(b"b", 3 * M, 3 * M + 100)
is_all(b"\0", 3 * M + 100, 4 * M)
is_all(b"c", 4 * M, 4 * M + 100)
is_all(b"o", 4 * M + 100, 32 * M)

# its size set later, longer and shorter; ftruncate to 0 starts one, too
old()
fd = os.open(vram, os.O_RDWR)
os.ftruncate(fd, 9 * M)
os.ftruncate(fd, 0)
os.pwrite(fd, b"n" * 10, 0)
os.ftruncate(fd, 2 * M)
is_all(b"\0", 10, 2 * M)
os.ftruncate(fd, 5)
os.ftruncate(fd, M)
os.close(fd)
is_all(b"n", 0, 5)
is_all(b"\0", 5, M)
is_all(b"o", 2 * M, 32 * M)

# what has once read as zeros is not old again behind a truncation
old()
fd = trunc()
os.pwrite(fd, b"n", 8 * M)
os.ftruncate(fd, 2 * M)
is_all(b"\0", 0, 8 * M)
os.ftruncate(fd, 0)
is_all(b"\0", 0, 8 * M)
os.close(fd)
is_all(b"o", 8 * M + 1, 32 * M)

# what others write meanwhile is not theirs to lose, and makes nothing longer
old()
fd = trunc()
os.pwrite(fd, b"n", 8 * M)
os.pwrite(out, b"x" * K, 4 * M)
os.pwrite(out, b"x" * K, 16 * M)
is_all(b"x", 4 * M, 4 * M + K)
os.close(fd)
is_all(b"\0", 0, 4 * M)
is_all(b"x", 4 * M, 4 * M + K)
is_all(b"\0", 4 * M + K, 8 * M)
is_all(b"o", 8 * M + 1, 16 * M)

# by path, or without a truncation, nothing is cleared
for how in ("path", "none", "r+b", "seek"):
    old()
    if how == "path":
        fd = os.open(vram, os.O_RDWR)
        os.truncate(vram, 0)
    elif how == "seek":
        fd = os.open(vram, os.O_RDWR)
        os.ftruncate(fd, M)
    else:
        fd = os.open(vram, os.O_RDWR)
    os.pwrite(fd, b"n", 8 * M)
    os.close(fd)
    is_all(b"o", 0, 8 * M)
    is_all(b"o", 8 * M + 1, 32 * M)

# fallocate: what makes a file longer does, what keeps its size does not
old()
fd = trunc()
assert not libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(M))
is_all(b"\0", 0, M)
assert not libc.fallocate(fd, 3, ctypes.c_long(2 * M), ctypes.c_long(M))
assert not libc.fallocate(fd, 16, ctypes.c_long(5 * M), ctypes.c_long(M))
is_all(b"\0", 0, 6 * M)
os.close(fd)
is_all(b"\0", 0, 6 * M)
is_all(b"o", 6 * M, 32 * M)

# more pieces than can be told apart
old()
fd = trunc()
for i in range(3000):
    os.pwrite(fd, b"n", i * 8 * K + 5)
os.close(fd)
got = b"".join(os.pread(out, M, i * M) for i in range(24))
for i in range(3000):
    piece = got[i * 8 * K:i * 8 * K + 8 * K]
    assert piece[5:6] == b"n", i
    if i < 2999:
        assert piece.count(0) == 8 * K - 1, i
assert got[2999 * 8 * K + 6:] == b"o" * (24 * M - 2999 * 8 * K - 6)

# threads that write an image side by side and out of order
old()
fd = trunc()
def worker(n):
    for i in range(n, 200, 4):
        os.pwrite(fd, bytes([i + 1]) * 1000, ((i * 77) % 200) * 128 * K + 333)
        if i % 20 == n:
            os.fsync(fd)
threads = [threading.Thread(target=worker, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()
os.close(fd)
got = b"".join(os.pread(out, M, i * M) for i in range(32))
want = bytearray(199 * 128 * K + 1333)
for i in range(200):
    at = ((i * 77) % 200) * 128 * K + 333
    want[at:at + 1000] = bytes([i + 1]) * 1000
assert got[:len(want)] == want
assert got[len(want):] == b"o" * (32 * M - len(want))

# a copy within the mount
old()
src = os.open(sys.argv[1] + "/die1/vram", os.O_RDWR)
os.pwrite(src, b"s" * M, 0)
fd = trunc()
assert os.copy_file_range(src, fd, M, 0, 3 * M) == M
os.close(fd)
is_all(b"\0", 0, 3 * M)
is_all(b"s", 3 * M, 4 * M)
is_all(b"o", 4 * M, 32 * M)
END

[ "$K80FS_BACKEND" = sim ] || exit 0
# a close that cannot clear because another die is held says so; what it leaves
# reads as zeros, and is cleared when the die is free
mkdir "$W/dies"
DIES=2 VRAM=16M mount_sim "sim_dir=$W/dies" wait=200
python3 - "$M" "$W/dies/die0" <<'END'
import errno, os, sys, time
mnt, memory = sys.argv[1:]
M = 1 << 20
fd = os.open(mnt + "/die0/vram", os.O_RDWR)
os.pwrite(fd, b"o" * 4 * M, 0)
os.fsync(fd)
other = os.open(mnt + "/die0/vram", os.O_RDWR)
new = os.open(mnt + "/die0/vram", os.O_RDWR | os.O_TRUNC)
os.pwrite(new, b"n", M)
def pin(line):
    ctl = os.open(mnt + "/die1/ctl", os.O_WRONLY)
    os.write(ctl, line)
    os.close(ctl)
def left():
    with open(memory, "rb") as f:
        return M - f.read(M).count(b"\0")
pin(b"pin\n")
for what in (lambda: os.fsync(new), lambda: os.close(os.dup(new))):
    try:
        what()
    except OSError as e:
        assert e.errno == errno.ETIMEDOUT, e
    else:
        raise SystemExit("succeeded")
# as a process that is killed does
try:
    os.close(new)
except OSError as e:
    assert e.errno == errno.ETIMEDOUT, e
time.sleep(0.3)
assert left() == M
pin(b"unpin\n")
assert os.pread(other, M, 0) == bytes(M)
end = time.monotonic() + 20
while left() and time.monotonic() < end:
    time.sleep(0.02)
assert not left()
assert os.pread(other, 1, M + 1) == b"o"
END
