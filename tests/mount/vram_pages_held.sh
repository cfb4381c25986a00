#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A page whose read waits for a die that is held out is locked meanwhile. Whoever
# changes that file is answered when it has been read, nobody else waits for it,
# and the daemon can be killed
. "$(dirname "$0")/lib.sh"
need_sim "a daemon to kill"
need_cmd python3
DIES=2 VRAM=16M mount_sim wait=60000
daemon=$(daemon_pid)
cat >"$W/held.py" <<'END'
import ctypes, mmap, os, signal, sys, threading, time
mnt, daemon = sys.argv[1], int(sys.argv[2])
M = 1 << 20
# python itself does nothing else meanwhile
memcpy = ctypes.CDLL(None).memcpy
memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_size_t
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
vram = ["%s/die%d/vram" % (mnt, die) for die in (0, 1)]
fds = [os.open(v, os.O_RDWR) for v in vram]
views = [libc.mmap(None, 8 * M, 1, 2, fd, 0) for fd in fds]
def touch(die, at):
    got = ctypes.create_string_buffer(1)
    memcpy(got, views[die] + at, 1)
for die in (0, 1):
    os.pwrite(fds[die], b"o" * M, 4 * M)
    touch(die, 0)
def ctl(line):
    fd = os.open(mnt + "/die1/ctl", os.O_WRONLY)
    os.write(fd, line)
    os.close(fd)
def waiters():
    for line in open(mnt + "/die0/status"):
        if line.startswith("waiters "):
            return int(line.split()[1])
done = []
def cut(fd):
    os.ftruncate(fd, 8 * M)
    done.append(fd)
def begin():
    image = os.open(vram[0], os.O_RDWR | os.O_TRUNC)
    ctl(b"pin\n")
    # SIGBUS is its own when the daemon is gone
    toucher = os.fork()
    if not toucher:
        touch(0, 4 * M)
        os._exit(0)
    while not waiters():
        time.sleep(0.01)
    cutter = threading.Thread(target=cut, args=(image,), daemon=True)
    cutter.start()
    time.sleep(0.5)
    return image, toucher, cutter
image, toucher, cutter = begin()
start = time.monotonic()
os.pwrite(fds[1], b"n" * M, 0)
took = time.monotonic() - start
assert took < 20, "another die's write took %.1f s" % took
assert not done
ctl(b"unpin\n")
cutter.join()
assert os.waitpid(toucher, 0)[1] == 0
assert os.pread(fds[0], M, 4 * M) == bytes(M)
got = ctypes.create_string_buffer(1)
memcpy(got, views[0] + 4 * M, 1)
assert got.raw == b"\0"
os.ftruncate(image, 0)
os.close(image)
# a page that was not read yet
done.clear()
os.posix_fadvise(fds[0], 0, 0, os.POSIX_FADV_DONTNEED)
libc.munmap.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.munmap(views[0], 8 * M)
views[0] = libc.mmap(None, 8 * M, 1, 2, os.open(vram[0], os.O_RDONLY), 0)
begin()
os.kill(daemon, signal.SIGKILL)
end = time.monotonic() + 20
while os.path.exists("/proc/%d/exe" % daemon) or \
        os.path.exists("/proc/%d/task" % daemon) and \
        os.listdir("/proc/%d/task" % daemon):
    assert time.monotonic() < end, "the daemon cannot be killed"
    time.sleep(0.02)
os._exit(0)
END
python3 "$W/held.py" "$M" "$daemon" || {
	# else nothing ever ends it
	umount -f "$M"
	fail "see above"
}
umount -l "$M"
