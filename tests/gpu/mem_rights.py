#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mapping of a file in DIR may do on this device: mem_rights.py DIR

Prints what was seen; a check that fails ends it.
"""
import ctypes
import os
import subprocess
import sys

import k80fs


def copies():
    lib = k80fs._lib()  # pylint: disable=protected-access
    u64, size = ctypes.c_uint64, ctypes.c_size_t
    lib.cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, u64, size]
    lib.cuda.cuMemcpyHtoD_v2.argtypes = [u64, ctypes.c_void_p, size]
    return lib


def read(lib, memory, off, size):
    data = ctypes.create_string_buffer(size)
    with k80fs._context(memory.device):
        lib.call("cuMemcpyDtoH_v2", data, memory.ptr + off, size)
    return data.raw


def write(lib, memory, off, data):
    with k80fs._context(memory.device):
        lib.call("cuMemcpyHtoD_v2", memory.ptr + off, data, len(data))


def astray(path):
    """in a process of its own: what writing to a mapping to read gives"""
    lib = copies()
    memory = k80fs.map(path)
    try:
        write(lib, memory, 0, b"x")
        print("a copy to a mapping to read: taken")
    except k80fs.Error as error:
        print("a copy to a mapping to read:", error.strerror)
    try:
        read(lib, memory, 0, 1)
        print("the context goes on")
    except k80fs.Error as error:
        print("the context is lost:", error.strerror)


def tensors(memory, path):
    try:
        import torch
    except ImportError:
        print("no torch here")
        return
    tensor = torch.as_tensor(memory, device="cuda")
    assert tensor.data_ptr() == memory.ptr, "torch has made a copy"
    assert tensor.numel() == memory.nbytes
    tensor[7] = 42
    torch.cuda.synchronize()
    with open(path, "rb") as file:
        assert file.read(8)[7] == 42
    print("torch writes to the file's own bytes")


def main(folder):
    path = f"{folder}/rights"
    data = os.urandom(100_000_001)
    with open(path, "wb") as file:
        file.write(data)
    lib = copies()
    reader = k80fs.map(path)
    assert read(lib, reader, 99_999_993, 8) == data[-8:]
    print("a mapping to read: read")
    subprocess.run([sys.executable, __file__, "astray", path], check=True)
    with open(path, "rb") as file:
        assert file.read(1) == data[:1], "the file was written to"
    writer = k80fs.map(path, write=True)
    write(lib, writer, 50_000_000, b"hello")
    assert read(lib, reader, 50_000_000, 5) == b"hello"
    with open(path, "r+b") as file:
        file.seek(50_000_000)
        assert file.read(5) == b"hello"
        file.seek(3)
        file.write(b"there")
        file.flush()
        assert read(lib, reader, 3, 5) == b"there"
    print("two mappings and the file are the same bytes")
    tensors(writer, path)
    os.unlink(path)
    assert read(lib, reader, 50_000_000, 5) == b"hello"
    reader.close()
    writer.close()
    print("removed, and there as long as it is mapped")


if __name__ == "__main__":
    if sys.argv[1] == "astray":
        astray(sys.argv[2])
    else:
        main(sys.argv[1])
