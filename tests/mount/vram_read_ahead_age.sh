#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was read ahead does not outlive a change that is not the mount's by more
# than a quarter of a second, and O_DIRECT never sees any
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "its dies' files are changed from outside"
need_cmd python3
mkdir "$W/dies"
DIES=2 VRAM=64M mount_sim "sim_dir=$W/dies" sim_swap_us=2000

python3 - "$M" "$W/dies" <<'END'
import mmap, os, sys, time
mnt, dies = sys.argv[1:]
size = 128 << 10
def round(flags):
    """Seconds after the change until the last old byte was read, or None"""
    files = [os.open("%s/die%d/vram" % (mnt, d), os.O_RDONLY | flags)
             for d in (0, 1)]
    outside = os.open(dies + "/die0", os.O_RDWR)
    buf = mmap.mmap(-1, size)
    os.pwrite(outside, b"o" * (32 << 20), 0)
    pos = 0
    def alternate(n):
        nonlocal pos
        olds = []
        for i in range(n):
            began = time.monotonic()
            os.preadv(files[0], [buf], pos)
            if buf[0:1] == b"o":
                olds.append(began)
            os.preadv(files[1], [buf], pos)
            pos += size
        return olds
    alternate(6)
    os.pwrite(outside, b"n" * (32 << 20), 0)
    changed = time.monotonic()
    old = 0
    while pos < 24 << 20:
        for began in alternate(1):
            old = max(old, began - changed)
        time.sleep(0.01)
    for f in files + [outside]:
        os.close(f)
    return old
for i in range(3):
    age = round(0)
    print("old bytes for %.3f s" % age)
    assert age < 0.3
    age = round(os.O_DIRECT)
    print("O_DIRECT: %.3f s" % age)
    assert age == 0
END
