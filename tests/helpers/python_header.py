#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Python module says of safetensors headers: python_header.py MODULE

A good file and many bad ones, as ordinary files: nothing of CUDA is opened.
Prints each that was not judged right, and ends with 1 if there was one.
"""
import importlib.util
import json
import sys
import tempfile

I64 = (1 << 63) - 1


def load(path):
    spec = importlib.util.spec_from_file_location("k80fs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry(dtype="F32", shape=(2, 3), offsets=(0, 24), **more):
    return {"dtype": dtype, "shape": list(shape),
            "data_offsets": list(offsets), **more}


def packed(header, data=24, n=None):
    text = header if isinstance(header, bytes) else \
        json.dumps(header).encode()
    return (len(text) if n is None else n).to_bytes(8, "little") + text + \
        bytes(data)


GOOD = {
    "one tensor": packed({"a": entry()}),
    "none": packed({}, 0),
    "padding": packed(json.dumps({"a": entry()}).encode() + b"   "),
    "metadata": packed({"__metadata__": {"x": "y"}, "a": entry()}),
    "another member": packed({"a": entry(more=1)}),
    "a scalar": packed({"a": entry(shape=(), offsets=(0, 4))}, 4),
    "an empty one between": packed({
        "a": entry(shape=(1,), offsets=(0, 4)),
        "b": entry(shape=(0, 7), offsets=(4, 4)),
        "c": entry("BF16", (2,), (4, 8))}, 8),
    "any order of names": packed({
        "b": entry("U8", (3,), (1, 4)), "a": entry("BOOL", (1,), (0, 1))}, 4),
    "every dtype": packed({
        name: entry(name, (0,), (0, 0)) for name in (
            "BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "U16", "I16",
            "F16", "BF16", "U32", "I32", "F32", "U64", "I64", "F64", "C64")},
        0),
}

BAD = {
    "nothing": b"",
    "seven bytes": bytes(7),
    "a header longer than the file": packed({"a": entry()}, n=4000),
    "a header of 2^63 bytes": packed({"a": entry()}, n=1 << 63),
    "a header longer than 100 MB": (100_000_001).to_bytes(8, "little"),
    "a header of no bytes": bytes(8),
    "a blank before it": packed(b' {"a":{}}'),
    "no JSON": packed(b"{abc}"),
    "cut JSON": packed(b'{"a":'),
    "something behind it": packed(b'{} x', 0),
    "not UTF-8": packed(b'{"\xff":1}'),
    "a list": packed(b'[1]', 0),
    "deep": packed(b'{"a":' * 100000 + b"1" + b"}" * 100000, 0),
    "a number of 5000 digits": packed(
        b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 +
        b'],"data_offsets":[0,24]}}'),
    "not a number": packed(
        b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,24]}}'),
    "a name twice": packed(
        b'{"a":' + json.dumps(entry()).encode() + b',"a":' +
        json.dumps(entry()).encode() + b"}"),
    "a member twice": packed(
        b'{"a":{"dtype":"F32","dtype":"F32","shape":[6],'
        b'"data_offsets":[0,24]}}'),
    "metadata of numbers": packed({"__metadata__": {"x": 1}, "a": entry()}),
    "metadata that is a list": packed({"__metadata__": ["x"], "a": entry()}),
    "metadata that is null": packed({"__metadata__": None, "a": entry()}),
    "a tensor that is no object": packed({"a": [1]}),
    "no dtype": packed({"a": {"shape": [6], "data_offsets": [0, 24]}}),
    "an unknown dtype": packed({"a": entry("F31")}),
    "a dtype that is a list": packed({"a": entry(["F32"])}),
    "no shape": packed({"a": {"dtype": "F32", "data_offsets": [0, 24]}}),
    "a shape that is a number": packed(
        {"a": {"dtype": "F32", "shape": 6, "data_offsets": [0, 24]}}),
    "a negative dimension": packed({"a": entry(shape=(-2, -3))}),
    "a dimension that is true": packed({"a": entry(shape=(True, 6))}),
    "a dimension of 6.0": packed({"a": entry(shape=(6.0,))}),
    "a dimension of text": packed({"a": entry(shape=("6",))}),
    "a product of 2^64": packed(
        {"a": entry("U8", (1 << 32, 1 << 32), (0, 0))}, 0),
    "a product of 2^64 that is 24": packed(
        {"a": entry("U8", ((1 << 62) + 6, 4), (0, 24))}),
    "a dimension of 2^63": packed({"a": entry("U8", (1 << 63,), (0, 24))}),
    "no offsets": packed({"a": {"dtype": "F32", "shape": [6]}}),
    "one offset": packed({"a": entry(offsets=(24,))}),
    "three offsets": packed({"a": entry(offsets=(0, 24, 24))}),
    "offsets backwards": packed({"a": entry(offsets=(24, 0))}),
    "a negative offset": packed({"a": entry(offsets=(-24, 0))}),
    "an offset of 0.0": packed({"a": entry(offsets=(0.0, 24))}),
    "offsets behind the end": packed({"a": entry(offsets=(24, 48))}),
    "offsets of the largest numbers": packed(
        {"a": entry(offsets=(I64 - 24, I64))}),
    "bytes that are not the shape's": packed({"a": entry(shape=(2, 2))}),
    "a file that is cut": packed({"a": entry()}, 23),
    "a byte behind the last tensor": packed({"a": entry()}, 25),
    "bytes before the first": packed({"a": entry(offsets=(4, 28))}, 28),
    "a hole": packed({"a": entry(offsets=(0, 24)),
                      "b": entry(offsets=(28, 52))}, 52),
    "an overlap": packed({"a": entry(offsets=(0, 24)),
                          "b": entry(offsets=(20, 44))}, 44),
    "the same bytes twice": packed({"a": entry(), "b": entry()}),
}


def judge(module, data):
    """None: it is taken; else why not"""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            # pylint: disable=protected-access
            module._read_header(file.fileno(), len(data))
        except module.HeaderError as error:
            return str(error) or "?"
    return None


def main(module):
    failed = 0
    for name, data in GOOD.items():
        why = judge(module, data)
        if why is not None:
            print(f"{name}: refused: {why}")
            failed += 1
    for name, data in BAD.items():
        if judge(module, data) is None:
            print(f"{name}: taken")
            failed += 1
    print(f"{len(GOOD)} good, {len(BAD)} bad, {failed} judged wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(load(sys.argv[1])))
