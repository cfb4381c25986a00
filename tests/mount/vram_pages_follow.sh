#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is in the page cache follows every change through the mount, before the
# change is answered: mappings, sendfile, and all files of a mount with -o cache
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "pages fill while a write waits"
need_cmd python3

# an asynchronous write is parked, a page of a mapping is touched meanwhile
DIES=2 VRAM=16M mount_sim
python3 - "$M" <<'END'
import ctypes, mmap, os, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_size_t
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
def call(nr, *args):
    ret = libc.syscall(nr, *args)
    assert ret >= 0, os.strerror(ctypes.get_errno())
    return ret
SETUP, GETEVENTS, SUBMIT = 206, 208, 209
if os.uname().machine != "x86_64":
    sys.exit(0)
mnt = sys.argv[1]
vram = os.open(mnt + "/die0/vram", os.O_RDWR | os.O_DIRECT)
plain = os.open(mnt + "/die0/vram", os.O_RDWR)
ctx = ctypes.c_ulong()
call(SETUP, 1, ctypes.byref(ctx))
buf = mmap.mmap(-1, 1 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(buf))
def ctl(die, line):
    fd = os.open("%s/die%d/ctl" % (mnt, die), os.O_WRONLY)
    os.write(fd, line)
    os.close(fd)
stale = 0
for i in range(30):
    old, new = (b"a", b"b") if i % 2 else (b"b", b"a")
    os.pwrite(plain, old * (1 << 20), 0)
    os.fsync(plain)
    ctl(1, b"pin\n")
    buf[:] = new * len(buf)
    iocb = ctypes.create_string_buffer(
        struct.pack("QIiHhIQQqQII", 0, 0, 0, 1, 0, vram, address, len(buf),
                    0, 0, 0, 0), 64)
    array = (ctypes.c_void_p * 1)(ctypes.addressof(iocb))
    call(SUBMIT, ctx, 1, array)
    view = libc.mmap(None, 1 << 20, 1, 2, plain, 0)
    got = ctypes.create_string_buffer(1)
    # not by python itself, which does nothing else meanwhile
    toucher = threading.Thread(target=libc.memcpy,
                               args=(got, view + 4096 * i, 1))
    toucher.start()
    time.sleep(0.01)
    ctl(1, b"unpin\n")
    call(GETEVENTS, ctx, 1, 1, ctypes.create_string_buffer(32), None)
    toucher.join()
    stale += ctypes.string_at(view + 4096 * i, 1) != new
    libc.munmap(view, 1 << 20)
print(stale, "of 30 pages are old")
assert not stale
END

# with -o cache also pages that writing left there
DIES=2 VRAM=32M mount_sim cache
python3 - "$M" "$SOCK" <<'END'
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
mnt, sock = sys.argv[1:]
fd = os.open(mnt + "/die0/vram", os.O_RDWR)
other = os.open(mnt + "/die1/vram", os.O_RDWR)
view = mmap.mmap(fd, 1 << 20)
def ctl(line):
    with open(mnt + "/die0/ctl", "w") as f:
        f.write(line + "\n")
def punch():
    assert not libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(8192))
def zero_range():
    assert not libc.fallocate(fd, 16, ctypes.c_long(0), ctypes.c_long(8192))
def copy():
    assert os.copy_file_range(other, fd, 8192, 0, 0) == 8192
def direct():
    d = os.open(mnt + "/die0/vram", os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, 8192)
    assert os.pwrite(d, page, 0) == 8192
    os.close(d)
for round in range(20):
    for change in (lambda: ctl("zero"), lambda: ctl("zero 0 8K"), punch,
                   zero_range, copy, direct):
        os.pwrite(fd, b"secret  " * 1024, 0)
        if round % 2:
            assert view[:6] == b"secret"
        change()
        assert os.pread(fd, 8192, 0) == bytes(8192)
        assert view[:8192] == bytes(8192)
# what a reset leaves is not what was there
os.pwrite(fd, b"secret  " * 1024, 0)
gen = os.open(mnt + "/die0/vram", os.O_RDWR)
ctl("reset")
new = os.open(mnt + "/die0/vram", os.O_RDWR)
assert os.pread(new, 6, 0) != b"secret"
END
