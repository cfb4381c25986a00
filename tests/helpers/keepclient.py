#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of k80-keeper: claims the pool of a GPU and has some memory kept.

usage: keepclient.py SOCKET UUID N

Claims UUID (32 hex digits), puts N memfds of 2 MiB, prints "ready" and waits for
the end of its standard input.
"""
import os
import socket
import struct
import sys

VERSION, CLAIM, PUT = 1, 2, 5
HEAD = struct.Struct("<IHHIIQ32s")


def ask(sock, op, uuid, items=(), fds=()):
    text = HEAD.pack(VERSION, op, len(items), 0, 0, 0, uuid.encode())
    text += b"".join(struct.pack("<QQ", *item) for item in items)
    socket.send_fds(sock, [text], fds)
    error = struct.unpack_from("<i", sock.recv(65536), 4)[0]
    if error:
        sys.exit(f"{op}: {os.strerror(-error)}")


def main():
    path, uuid, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.connect(path)
    ask(sock, CLAIM, uuid)
    if n:
        fds = [os.memfd_create("check") for _ in range(n)]
        ask(sock, PUT, uuid, [(1 + i, 2 << 20) for i in range(n)], fds)
    print("ready", flush=True)
    sys.stdin.read()


main()
