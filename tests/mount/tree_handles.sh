#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A file handle of anything in the tree opens it as long as there is a mount,
# whatever the kernel has forgotten meanwhile; one of nothing is ESTALE, and so
# in a later mount is one of memory that has gone with the mount
. "$(dirname "$0")/lib.sh"
need_root "open_by_handle_at"
need_cmd python3
mount_tree() {
	if [ "$K80FS_BACKEND" = bar_swap ]; then
		mount_sim
	else
		VRAM=64M mount_compute "$@"
	fi
}

mount_tree
cat >"$W/handles.py" <<'END'
import ctypes, errno, os, pickle, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, O_PATH = -100, os.O_PATH
PATH = O_PATH | os.O_NOFOLLOW
M = sys.argv[2]
root = os.open(M, os.O_RDONLY | os.O_DIRECTORY)

def handle_of(path):
    h, mnt = ctypes.create_string_buffer(136), ctypes.c_int()
    h[0:4] = (128).to_bytes(4, sys.byteorder)
    if libc.name_to_handle_at(AT_FDCWD, path.encode(), h, ctypes.byref(mnt), 0):
        raise OSError(ctypes.get_errno(), path)
    return h.raw

def open_by(handle, flags):
    h = ctypes.create_string_buffer(handle, len(handle))
    fd = libc.open_by_handle_at(root, h, flags)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "open_by_handle_at")
    return fd

def everything():
    yield "."
    for top, dirs, files in os.walk(M):
        for name in dirs + files:
            yield os.path.relpath(os.path.join(top, name), M)

# the first word behind the length and type is the upper half of the number
def with_number(handle, ino):
    return (handle[:8] + (ino >> 32).to_bytes(4, sys.byteorder) +
            (ino & 0xffffffff).to_bytes(4, sys.byteorder) + handle[16:])

def must_be_stale(handle):
    try:
        open_by(handle, O_PATH)
    except OSError as e:
        assert e.errno == errno.ESTALE, e
    else:
        raise AssertionError("opened")

if sys.argv[1] == "take":
    taken = {p: (handle_of(M + "/" + p), os.lstat(M + "/" + p).st_ino)
             for p in everything()}
    pickle.dump(taken, open(sys.argv[3], "wb"))
    sys.exit()

taken = pickle.load(open(sys.argv[3], "rb"))
if sys.argv[1] == "gone":
    for p, (handle, ino) in taken.items():
        if ino >= 16:
            must_be_stale(handle)
        else:
            assert os.fstat(open_by(handle, PATH)).st_ino == ino, p
    sys.exit()
# the deepest first, so that no folder above one has been looked up
for p in sorted(taken, key=lambda p: -p.count("/")):
    handle, ino = taken[p]
    fd = open_by(handle, PATH)
    st = os.fstat(fd)
    assert st.st_ino == ino, (p, st)
    if os.path.islink(M + "/" + p):
        assert os.readlink("", dir_fd=fd) == os.readlink(M + "/" + p), p
    else:
        at = os.path.realpath("/proc/self/fd/%d" % fd)
        assert at == os.path.realpath(M + "/" + p) or at == "/", (p, at)
    os.close(fd)
text = os.read(open_by(taken["die1/status"][0], os.O_RDONLY), 4096)
assert text.startswith(b"die 1\n"), text
names = os.listdir(open_by(taken["die1"][0], os.O_RDONLY))
assert sorted(names) == sorted(os.listdir(M + "/die1")), names

vram = taken["die0/vram"][0]
inos = {ino for _, ino in taken.values()}
for ino in (0, 15, 4095, 1 << 32 | 1, (1 << 64) - 1, *range(300)):
    if ino not in inos:
        must_be_stale(with_number(vram, ino))

# an open through a handle is one like any other: O_TRUNC alone begins an image
K = 1024
with open(M + "/die0/vram", "r+b", buffering=0) as f:
    f.write(b"o" * 64 * K)
    fd = open_by(vram, os.O_RDWR)
    os.pwrite(fd, b"n" * K, 32 * K)
    os.close(fd)
    assert os.pread(f.fileno(), 33 * K, 0) == b"o" * 32 * K + b"n" * K
    fd = open_by(vram, os.O_RDWR | os.O_TRUNC)
    os.pwrite(fd, b"t" * K, 16 * K)
    os.close(fd)
    assert (os.pread(f.fileno(), 18 * K, 0) ==
            bytes(16 * K) + b"t" * K + b"o" * K)
END

python3 "$W/handles.py" take "$M" "$W/taken"
python3 "$W/handles.py" use "$M" "$W/taken"
drop_caches 2
python3 "$W/handles.py" use "$M" "$W/taken"
# nothing of a new mount has been looked up, and its numbers are the same
unmount
mount_tree
if [ "$K80FS_BACKEND" = bar_swap ]; then
	python3 "$W/handles.py" use "$M" "$W/taken"
else
	python3 "$W/handles.py" gone "$M" "$W/taken"
fi
[ "$K80FS_BACKEND" = sim ] || exit 0
unmount
mkdir "$W/dies" "$W/others"
mount_tree "sim_dir=$W/dies"
python3 "$W/handles.py" take "$M" "$W/taken"
unmount
mount_tree "sim_dir=$W/dies"
python3 "$W/handles.py" use "$M" "$W/taken"
unmount
mount_tree "sim_dir=$W/others"
python3 "$W/handles.py" gone "$M" "$W/taken"
