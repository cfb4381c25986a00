#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vmlinux.py VMLINUZ VMLINUX - take the ELF image out of an x86 bzImage.

The guest boots it directly (PVH): decompression under emulation would take
twice as long as the whole boot. Offsets: Documentation/arch/x86/boot.rst.
"""

import lzma
import struct
import subprocess
import sys

SETUP_SECTS = 0x1F1
PAYLOAD_OFFSET = 0x248


def payload(image):
    """the compressed kernel inside a bzImage"""
    sectors = image[SETUP_SECTS] or 4
    offset, length = struct.unpack_from("<II", image, PAYLOAD_OFFSET)
    start = (sectors + 1) * 512 + offset
    return image[start : start + length]


def unpack(data):
    """decompress; the last 4 bytes are the size the boot code wants"""
    size = struct.unpack("<I", data[-4:])[0]
    if data.startswith(b"\xfd7zXZ\0"):
        out = lzma.LZMADecompressor().decompress(data)
    elif data.startswith(b"\x28\xb5\x2f\xfd"):
        out = subprocess.run(
            ["zstd", "-dcq"], input=data[:-4], stdout=subprocess.PIPE, check=True
        ).stdout
    else:
        sys.exit("vmlinux.py: unknown compression %s" % data[:6].hex())
    if out[:4] != b"\x7fELF" or len(out) != size:
        sys.exit("vmlinux.py: payload is no ELF image of %d bytes" % size)
    return out


def main():
    """read, unpack, write"""
    with open(sys.argv[1], "rb") as f:
        image = f.read()
    with open(sys.argv[2], "wb") as f:
        f.write(unpack(payload(image)))


main()
