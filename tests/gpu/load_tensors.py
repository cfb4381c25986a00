#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One load of a safetensors file in a fresh process, and what it took.

usage: load_tensors.py mem|file FILE [sums|stay|equal OTHER]

mem: by k80fs.safetensors, FILE is on k80fs; file: by safetensors' load_file to
the GPU. Prints "import S init S load S all S", in seconds, then with "sums" one
sum over the bits of each tensor; with "stay" it waits for the end of its
standard input; with "equal" it compares each tensor's bits with those of OTHER.
"""
import sys
import time

START = time.monotonic()


def load(mode, path):
    if mode == "mem":
        import k80fs
        return k80fs.safetensors(path)
    from safetensors.torch import load_file
    return load_file(path, device="cuda")


def bits(torch, tensor):
    return tensor.reshape(-1).view(torch.int16)


def sums(torch, weights):
    for name in sorted(weights):
        part = bits(torch, weights[name])
        place = torch.arange(part.numel(), device=part.device) % 251 + 1
        print(name, int((part * place).sum()))


def equal(torch, weights, other):
    reference = load("file", other)
    assert sorted(weights) == sorted(reference)
    for name, tensor in weights.items():
        assert tensor.dtype == reference[name].dtype, name
        assert tensor.shape == reference[name].shape, name
        assert torch.equal(bits(torch, tensor), bits(torch, reference[name])), \
            name
    print(f"equal {len(weights)}")


def main(mode, path, what=None, other=None):
    import torch
    imported = time.monotonic()
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    ready = time.monotonic()
    weights = load(mode, path)
    torch.cuda.synchronize()
    end = time.monotonic()
    print(f"import {imported - START:.3f} init {ready - imported:.3f} "
          f"load {end - ready:.3f} all {end - START:.3f}", flush=True)
    if mode == "mem" and weights.copied:
        print(f"copied {weights.copied} {weights.copied_bytes}")
    if what == "sums":
        sums(torch, weights)
    elif what == "equal":
        equal(torch, weights, other)
    elif what == "stay":
        print("free", torch.cuda.mem_get_info()[0], flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
