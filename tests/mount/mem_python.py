#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The module k80fs on a folder of GPU memory beside numpy: mem_python.py DIR

Every file that it makes there is removed again.
"""
import ctypes
import errno
import gc
import json
import os
import struct
import sys

import numpy

import k80fs

LIB = k80fs._lib()  # pylint: disable=protected-access
LIB.cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64,
                                     ctypes.c_size_t]
LIB.cuda.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p,
                                     ctypes.c_size_t]

# every dtype that numpy has too; BF16 is two bytes to it
KINDS = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2",
         "F16": "<f2", "BF16": "<u2", "U32": "<u4", "I32": "<i4", "F32": "<f4",
         "U64": "<u8", "I64": "<i8", "F64": "<f8", "C64": "<c8"}


def fetch(thing):
    """the bytes of what has __cuda_array_interface__"""
    interface = thing.__cuda_array_interface__
    assert interface["version"] == 3 and interface["data"][1] is False
    assert interface["typestr"] == "|u1"
    data = ctypes.create_string_buffer(max(thing.nbytes, 1))
    with k80fs._context(thing.device):
        if thing.nbytes:
            LIB.call("cuMemcpyDtoH_v2", data, interface["data"][0],
                     thing.nbytes)
    return data.raw[:thing.nbytes]


def arrays(seed):
    rng = numpy.random.default_rng(seed)
    made = {}
    for i, (dtype, kind) in enumerate(KINDS.items()):
        shape = [(), (3,), (5, 7), (2, 0, 4), (100, 1000)][i % 5]
        size = numpy.dtype(kind).itemsize * int(numpy.prod(shape))
        data = rng.integers(0, 2 if dtype == "BOOL" else 256, size,
                            dtype="u1").tobytes()
        made[f"t.{dtype}"] = (dtype, numpy.frombuffer(data, kind)
                              .reshape(shape))
    return made


def write(path, made, pad=0, metadata=None):
    """a safetensors file of this order; its header is @pad longer"""
    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, array) in made.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + pad)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in made.values():
            file.write(array.tobytes())
    return 8 + len(text)


def check(weights, made):
    assert sorted(weights) == sorted(made)
    for name, (dtype, array) in made.items():
        view = weights[name]
        assert view.dtype == dtype and view.shape == array.shape, name
        assert view.nbytes == array.nbytes, name
        got = numpy.frombuffer(fetch(view), array.dtype).reshape(array.shape)
        assert got.tobytes() == array.tobytes(), name
        assert view.ptr % max(array.itemsize, 1) == 0, name


def test_tensors(folder):
    path = f"{folder}/t"
    made = arrays(1)
    ordered = dict(sorted(made.items(),
                          key=lambda item: -item[1][1].itemsize))
    write(path, ordered, metadata={"a": "b"})
    weights = k80fs.safetensors(path, torch=False)
    assert weights.metadata == {"a": "b"}
    assert weights.copied == weights.copied_bytes == 0
    check(weights, made)
    base = weights.map.ptr
    assert all(base <= v.ptr < base + weights.map.nbytes
               for v in weights.values() if v.nbytes)
    # the file is gone, and its tensors are there for as long as one is
    os.unlink(path)
    one = weights["t.F32"]
    want = made["t.F32"][1].tobytes()
    del weights
    gc.collect()
    assert fetch(one) == want


def test_misaligned(folder):
    path = f"{folder}/t"
    made = arrays(2)
    start = write(path, made, pad=1)
    at, wrong, wrong_bytes = start, 0, 0
    for _, array in made.values():
        if at % array.itemsize:
            wrong += 1
            wrong_bytes += array.nbytes
        at += array.nbytes
    assert wrong > 3
    weights = k80fs.safetensors(path, torch=False)
    assert (weights.copied, weights.copied_bytes) == (wrong, wrong_bytes)
    check(weights, made)
    os.unlink(path)


def test_save(folder):
    path = f"{folder}/saved"
    made = arrays(3)
    write(f"{folder}/t", made, pad=1)
    weights = k80fs.safetensors(f"{folder}/t", torch=False)
    k80fs.save(path, weights, {"rank": "3"})
    again = k80fs.safetensors(path, torch=False)
    assert again.metadata == {"rank": "3"} and again.copied == 0
    check(again, made)
    with open(path, "rb") as file:
        assert (8 + struct.unpack("<Q", file.read(8))[0]) % 256 == 0
    # over itself: who has the file before keeps that
    k80fs.save(path, {"only": weights["t.F64"]})
    check(again, made)
    check(k80fs.safetensors(path, torch=False), {"only": made["t.F64"]})
    k80fs.save(path, {})
    assert not k80fs.safetensors(path, torch=False)
    os.unlink(path)
    os.unlink(f"{folder}/t")


class Foreign:
    """what another library gives"""

    def __init__(self, memory, shape, typestr, strides=None):
        self.memory = memory
        self.__cuda_array_interface__ = {
            "version": 2, "shape": shape, "typestr": typestr,
            "data": (memory.ptr, False), "strides": strides}


def test_save_of_others(folder):
    values = numpy.arange(12, dtype="<f4").reshape(3, 4)
    with open(f"{folder}/raw", "wb") as file:
        file.write(values.tobytes())
    with k80fs.map(f"{folder}/raw") as memory:
        k80fs.save(f"{folder}/s", {
            "plain": Foreign(memory, (3, 4), "<f4"),
            "strides": Foreign(memory, (3, 4), "<f4", (16, 4)),
            "scalar": Foreign(memory, (), "<f4")})
        check(k80fs.safetensors(f"{folder}/s", torch=False), {
            "plain": ("F32", values), "strides": ("F32", values),
            "scalar": ("F32", values[0, 0])})
        for bad in (Foreign(memory, (4, 3), "<f4", (4, 16)),
                    Foreign(memory, (3, 4), ">f4"), values, [1]):
            try:
                k80fs.save(f"{folder}/bad", {"x": bad})
                raise AssertionError("saved")
            except TypeError:
                pass
        try:
            k80fs.save(f"{folder}/bad", {"__metadata__":
                                         Foreign(memory, (3,), "<f4")})
            raise AssertionError("saved")
        except ValueError:
            pass
    os.unlink(f"{folder}/raw")
    os.unlink(f"{folder}/s")


def test_map(folder):
    path = f"{folder}/m"
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * 40)
    with k80fs.map(path, write=True) as memory:
        assert len(memory) == memory.nbytes == 10240
        assert fetch(memory) == bytes(range(256)) * 40
        with k80fs._context(memory.device):
            LIB.call("cuMemcpyHtoD_v2", memory.ptr + 5, b"hello", 5)
    with open(path, "rb") as file:
        assert file.read(10)[5:] == b"hello"
    try:
        memory.__cuda_array_interface__
        raise AssertionError("it was closed")
    except ValueError:
        pass
    memory.close()
    os.unlink(path)


def test_full_card(folder):
    """a save for which there is no memory leaves no file behind"""
    path = f"{folder}/big"
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 150 << 20)
    memory = k80fs.map(path)
    view = k80fs.View(memory, memory.ptr, memory.nbytes, "U8",
                      (memory.nbytes,))
    try:
        k80fs.save(f"{folder}/copy", {"x": view})
        raise AssertionError("saved")
    except k80fs.Error as error:
        assert error.errno == errno.ENOSPC, error
    assert os.listdir(folder) == ["big"], os.listdir(folder)
    os.unlink(path)


def test_bad_header(folder):
    path = f"{folder}/bad"
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 4) + b'{"a"')
    try:
        k80fs.safetensors(path)
        raise AssertionError("taken")
    except k80fs.HeaderError as error:
        assert str(error).startswith(path), error
    os.unlink(path)


def main(folder):
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(folder)
            gc.collect()
            print("ok", name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
