#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A FUSE mount without libfuse, for the tests of the mount helpers.

usage: fakefuse.py dead DIR [TYPE]   mount whose daemon is gone (root)
       fakefuse.py dead-user DIR     the same, by a user with fusermount3
       fakefuse.py live DIR          an empty folder; returns when mounted and
                                     prints the pid of the daemon (root)
       fakefuse.py mute DIR          the same, but statfs is never answered
       fakefuse.py unit DIR          an empty folder, served in the foreground
                                     as a unit of Type=notify; SIGTERM unmounts

Structures: include/uapi/linux/fuse.h of Linux, protocol 7.31.
"""
import array
import ctypes
import errno
import os
import signal
import socket
import struct
import subprocess
import sys

MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
INIT, GETATTR, STATFS, ACCESS, OPENDIR, READDIR, RELEASEDIR = (
    26, 3, 17, 34, 27, 28, 29)
LOOKUP, FORGET, INTERRUPT, DESTROY, BATCH_FORGET = 1, 2, 36, 38, 42
S_IFDIR = 0o040000


def mount(path, fstype):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/dev/fuse", os.O_RDWR)
    data = "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other" % (
        fd, os.getuid(), os.getgid())
    if libc.mount(b"k80fs", path.encode(), fstype.encode(),
                  MS_NOSUID | MS_NODEV, data.encode()):
        sys.exit("mount %s: %s" % (path, os.strerror(ctypes.get_errno())))
    return fd


def mount_as_user(path):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    subprocess.run(
        ["fusermount3", "-o", "fsname=k80fs,subtype=k80fs", "--", path],
        env=dict(os.environ, _FUSE_COMMFD=str(theirs.fileno())),
        pass_fds=[theirs.fileno()], check=True)
    fds = array.array("i")
    _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(fds.itemsize))
    fds.frombytes(ancillary[0][2][:fds.itemsize])
    return fds[0]


def attr():
    return struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, S_IFDIR | 0o755,
                       2, 0, 0, 0, 4096, 0)


def answer(opcode):
    """(errno, body), or None where the kernel wants no answer"""
    if opcode in (FORGET, INTERRUPT, BATCH_FORGET):
        return None
    if opcode == INIT:
        return 0, struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 16, 12, 65536, 1,
                              16, 0, *[0] * 8)
    if opcode == GETATTR:
        return 0, struct.pack("<Q2I", 0, 0, 0) + attr()
    if opcode == STATFS:
        return 0, struct.pack("<5Q10I", 0, 0, 0, 0, 0, 512, 255, 512,
                              *[0] * 7)
    if opcode == OPENDIR:
        return 0, struct.pack("<Q2I", 0, 0, 0)
    if opcode in (READDIR, RELEASEDIR, ACCESS, DESTROY):
        return 0, b""
    if opcode == LOOKUP:
        return errno.ENOENT, b""
    return errno.ENOSYS, b""


def serve(fd, unanswered):
    while True:
        try:
            request = os.read(fd, 1 << 17)
        except OSError as e:
            if e.errno in (errno.ENODEV, errno.ECONNABORTED):
                return
            if e.errno in (errno.EINTR, errno.ENOENT):
                continue
            raise
        _, opcode, unique = struct.unpack_from("<2IQ", request)
        reply = None if opcode in unanswered else answer(opcode)
        if reply is None:
            continue
        error, body = reply
        try:
            os.write(fd, struct.pack("<IiQ", 16 + len(body), -error, unique)
                     + body)
        except OSError as e:
            if e.errno != errno.ENOENT:  # ENOENT: interrupted meanwhile
                raise


def serve_unit(fd, path):
    def ends(_signal, _frame):
        ctypes.CDLL(None).umount2(path.encode(), MNT_DETACH)
        os._exit(0)

    signal.signal(signal.SIGTERM, ends)
    name = os.environ["NOTIFY_SOCKET"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"READY=1", name.replace("@", "\0", 1))
    serve(fd, ())


def main():
    kind, path = sys.argv[1], sys.argv[2]
    if kind == "dead":
        mount(path, sys.argv[3] if len(sys.argv) > 3 else "fuse.k80fs")
    elif kind == "dead-user":
        mount_as_user(path)
    elif kind in ("live", "mute"):
        fd = mount(path, "fuse.k80fs")
        pid = os.fork()
        if pid:
            print(pid)
        else:
            null = os.open("/dev/null", os.O_RDWR)
            for std in (0, 1, 2):
                os.dup2(null, std)
            os.setsid()
            os.chdir("/")
            serve(fd, (STATFS,) if kind == "mute" else ())
            os._exit(0)
    elif kind == "unit":
        serve_unit(mount(path, "fuse.k80fs"), path)
    else:
        sys.exit(__doc__)


main()
