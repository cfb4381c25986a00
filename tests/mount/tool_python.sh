#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# python: open "r+b", seek, read, write, readinto, truncate, os.pread
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
VRAM=12G mount_sim

/usr/bin/python3 - "$(die 0)" "$(die 1)" "$CAP" <<'P'
import errno, hashlib, os, shutil, sys

a, b, cap = sys.argv[1] + "/vram", sys.argv[2] + "/vram", int(sys.argv[3])
data = os.urandom(3000001)
places = [p for p in (0, 12345, 4 << 30, (8 << 30) - 7, cap - 3000001)
          if p + len(data) <= cap and p >= 0]
with open(a, "r+b") as f:
    for p in places:
        f.seek(p)
        assert f.write(data) == len(data)
        f.flush()
        f.seek(p)
        assert f.read(len(data)) == data
    assert f.seek(0, 2) == cap
    assert f.read() == b""
    f.truncate(0)
    assert os.fstat(f.fileno()).st_size == cap
    try:
        f.truncate(cap + 1)
        raise SystemExit("truncate beyond the capacity")
    except OSError as e:
        assert e.errno == errno.EFBIG, e
    os.fsync(f.fileno())
with open(a, "r+b", buffering=0) as f, open(b, "r+b", buffering=0) as g:
    buf = bytearray(1 << 20)
    f.seek(12345)
    assert f.readinto(buf) == len(buf)
    assert g.write(buf) == len(buf)
    assert os.pread(g.fileno(), 1 << 20, 0) == bytes(buf)
    f.seek(cap - 10)
    assert len(f.read(100)) == 10
    f.seek(cap)
    try:
        f.write(b"x")
        raise SystemExit("write at the end")
    except OSError as e:
        assert e.errno == errno.ENOSPC, e
with open(sys.argv[1] + "/ctl", "w") as c:
    c.write("acquire\npin\n")
text = dict(l.rstrip("\n").split(" ", 1) for l in open(sys.argv[1] + "/status"))
assert text["state"] == "active" and text["hold"] == "pin", text
with open(sys.argv[1] + "/ctl", "w") as c:
    c.write("unpin")
for mode in ("w", "wb", "a"):
    with open(a, mode) as f:
        pass
assert os.path.getsize(a) == cap
try:
    with open(sys.argv[1] + "/ctl", "w") as c:
        c.write("acquire foo")
    raise SystemExit("acquire foo")
except OSError as e:
    assert e.errno == errno.EINVAL, e
P
