#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dsdt.py FILE - give the host bridge of a disassembled DSDT a 64-bit window.

The edit that owners of such boards make by hand: one more descriptor behind
the last 32-bit memory window of PCI0._CRS, and a higher OEM revision, without
which Linux would not take the table.
"""

import re
import sys

LAST_WINDOW = "0xFEBFFFFF"
DESCRIPTOR = """
                QWordMemory (ResourceProducer, PosDecode, MinFixed, MaxFixed,
                    Cacheable, ReadWrite,
                    0x0, 0xBC0000000, 0xFFFFFFFFF, 0x0, 0x440000000,
                    ,, , AddressRangeMemory, TypeStatic)"""


def main():
    """edit in place; fail if a place to edit is missing"""
    with open(sys.argv[1]) as f:
        text = f.read()
    end = text.index("TypeStatic)", text.index(LAST_WINDOW)) + len("TypeStatic)")
    text = text[:end] + DESCRIPTOR + text[end:]
    text, n = re.subn(
        r'(DefinitionBlock \(.*, )0x([0-9A-F]{8})\)',
        lambda m: "%s0x%08X)" % (m[1], int(m[2], 16) + 1),
        text,
        count=1,
    )
    if n != 1:
        sys.exit("dsdt.py: no DefinitionBlock")
    with open(sys.argv[1], "w") as f:
        f.write(text)


main()
