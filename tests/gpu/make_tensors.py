#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A safetensors file as a language model's: make_tensors.py FILE GIB

280 tensors of BF16, of falling and rising sizes, GIB of them in all; no two
have the same bytes. Their data do not start at a multiple of anything, as in
files that are found.
"""
import json
import os
import sys

N = 280
BLOCK = 64 << 20


def main(path, gib):
    total = int(float(gib) * (1 << 30))
    rows = [1 + i % 7 for i in range(N)]
    unit = total // sum(rows) // 2 * 2
    header, at = {}, 0
    for i, n in enumerate(rows):
        header[f"layer.{i}.weight"] = {
            "dtype": "BF16", "shape": [n, unit // 2],
            "data_offsets": [at, at + n * unit]}
        at += n * unit
    text = json.dumps(header).encode()
    text += b" " * (2 - len(text) % 2)
    random = os.urandom(BLOCK)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        left, turn = at, 0
        while left:
            turn = (turn + 1048583) % BLOCK
            part = (random[turn:] + random[:turn])[:min(left, BLOCK)]
            file.write(part)
            left -= len(part)
    print(f"{N} tensors, {at} bytes of data from byte {8 + len(text)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
