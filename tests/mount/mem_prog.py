#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A CUDA program that does what its standard input says, a command a line:

map PATH [write]   a mapping, instead of the one before: "ok BYTES"
read OFF LEN       "ok HEX"
write OFF HEX      "ok"
close              "ok"
context DEVICE|-   make a context of it current, or none: "ok"
raw PATH           map it in the context that is current: "ok BYTES"
sleep              "ok", and then it waits for the next line

Each is answered with one line: as above, or "error ERRNO TEXT".
"""
import ctypes
import errno
import sys

import k80fs


class Program:
    def __init__(self):
        self.map = self.raw = self.contexts = None
        self.lib = k80fs._lib()  # pylint: disable=protected-access
        self.cuda = self.lib.cuda
        u64, size = ctypes.c_uint64, ctypes.c_size_t
        self.cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, u64, size]
        self.cuda.cuMemcpyHtoD_v2.argtypes = [u64, ctypes.c_void_p, size]
        self.cuda.cuCtxCreate_v2.argtypes = [
            ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint, ctypes.c_int]

    def do_map(self, path, how=None):
        self.do_close()
        self.map = k80fs.map(path, how == "write")
        return self.map.nbytes

    def do_read(self, off, length):
        data = ctypes.create_string_buffer(int(length))
        with k80fs._context(self.map.device):
            self.lib.call("cuMemcpyDtoH_v2", data, self.map.ptr + int(off),
                          int(length))
        return data.raw.hex()

    def do_write(self, off, text):
        data = bytes.fromhex(text)
        with k80fs._context(self.map.device):
            self.lib.call("cuMemcpyHtoD_v2", self.map.ptr + int(off), data,
                          len(data))
        return ""

    def do_close(self):
        if self.map:
            self.map.close()
        self.map = None
        return ""

    def do_context(self, device):
        ctx = ctypes.c_void_p()
        if device != "-":
            self.lib.call("cuCtxCreate_v2", ctypes.byref(ctx), 0, int(device))
        self.lib.call("cuCtxSetCurrent", ctx)
        return ""

    def do_raw(self, path):
        handle = ctypes.c_void_p()
        self.lib.mem.k80_map_path.argtypes = [
            ctypes.c_char_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p)]
        self.lib.ask(path, "k80_map_path", path.encode(), 0,
                     ctypes.byref(handle))
        length = self.lib.mem.k80_map_len(handle)
        self.lib.mem.k80_unmap(handle)
        return length

    def do_sleep(self):
        return ""

    def answer(self, line):
        name, *args = line.split()
        try:
            result = getattr(self, "do_" + name)(*args)
        except OSError as error:
            code = errno.errorcode.get(error.errno, error.errno)
            return f"error {code} {error.strerror}"
        return f"ok {result}".rstrip()


def main():
    program = Program()
    for line in sys.stdin:
        print(program.answer(line), flush=True)


if __name__ == "__main__":
    main()
