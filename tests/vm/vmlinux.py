#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vmlinux.py VMLINUZ VMLINUX - take the ELF image out of an x86 bzImage.

The guest boots it directly (PVH): decompression under emulation would take
twice as long as the whole boot. Offsets: Documentation/arch/x86/boot.rst.

The image gets a few instructions in front that enable the MTRRs, as a PC's
firmware does and qboot does not: without them Linux before 6.3 leaves the PAT
alone, and no mapping is ever write-combining.
"""

import lzma
import struct
import subprocess
import sys

SETUP_SECTS = 0x1F1
PAYLOAD_OFFSET = 0x248

ELF_PHOFF, ELF_PHNUM, PHDR_SIZE = 0x20, 0x38, 56
PT_LOAD, PT_NOTE = 1, 4
NOTE_PHYS32_ENTRY = 18  # XEN_ELFNOTE_PHYS32_ENTRY: where PVH starts
# mov ecx, IA32_MTRR_DEF_TYPE; mov eax, enable | write-back; xor edx, edx;
# wrmsr; mov eax, ENTRY; jmp eax
STUB = bytes.fromhex("b9ff020000 b806080000 31d2 0f30 b800000000 ffe0")
STUB_ENTRY = STUB.index(b"\x00\x00\x00\x00\xff\xe0")


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


def find_entry(elf, offset, size):
    """file offset and value of the PVH entry in a note segment"""
    at = offset
    while at < offset + size:
        name_len, desc_len, kind = struct.unpack_from("<III", elf, at)
        desc = at + 12 + (name_len + 3) // 4 * 4
        if elf[at + 12 : at + 16] == b"Xen\0" and kind == NOTE_PHYS32_ENTRY:
            return desc, struct.unpack_from("<I", elf, desc)[0]
        at = desc + (desc_len + 3) // 4 * 4
    sys.exit("vmlinux.py: the kernel has no PVH entry")


def add_stub(image):
    """a segment with the stub behind the kernel, and the entry moved to it"""
    elf = bytearray(image)
    phoff = struct.unpack_from("<Q", elf, ELF_PHOFF)[0]
    phnum = struct.unpack_from("<H", elf, ELF_PHNUM)[0]
    end = note = None
    for i in range(phnum):
        kind, _, offset, _, paddr, filesz, memsz, _ = struct.unpack_from(
            "<IIQQQQQQ", elf, phoff + i * PHDR_SIZE
        )
        if kind == PT_LOAD:
            end = max(end or 0, paddr + memsz)
        elif kind == PT_NOTE:
            note = find_entry(elf, offset, filesz)
    new = phoff + phnum * PHDR_SIZE
    if any(elf[new : new + PHDR_SIZE]):
        sys.exit("vmlinux.py: no room for a program header")
    where = (end + 0xFFF) & ~0xFFF
    stub = bytearray(STUB)
    struct.pack_into("<I", stub, STUB_ENTRY, note[1])
    struct.pack_into("<I", elf, note[0], where)
    struct.pack_into(
        "<IIQQQQQQ", elf, new, PT_LOAD, 5, len(elf), where, where,
        len(stub), len(stub), 1,
    )
    struct.pack_into("<H", elf, ELF_PHNUM, phnum + 1)
    return bytes(elf + stub)


def main():
    """read, unpack, write"""
    with open(sys.argv[1], "rb") as f:
        image = f.read()
    with open(sys.argv[2], "wb") as f:
        f.write(add_stub(unpack(payload(image))))


main()
