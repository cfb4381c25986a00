#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk under a simulated die is full: a write says so, or the fsync of what
# was written behind does; the other dies go on
. "$(dirname "$0")/lib.sh"
need_sim "a disk under a die"
need_root "a little tmpfs"
need_cmd python3
mkdir "$W/disk"
mount -t tmpfs -o size=6M tmpfs "$W/disk"
VRAM=64M mount_sim "sim_dir=$W/disk" sim_swap_us=500
mounts+=("$W/disk")

said=$(python3 - "$(die 0)/vram" "$(die 1)/vram" <<'END'
import errno, os, sys
a, b = [os.open(f, os.O_RDWR) for f in sys.argv[1:]]
def tell(what, *args):
    try:
        what(*args)
        return "fine"
    except OSError as e:
        return errno.errorcode[e.errno]
os.pread(a, 4096, 0)
# what was written behind goes to the disk some time before the fsync
first = {tell(os.pwrite, b, b"x" * 1048576, i << 20) for i in range(16)}
first.add(tell(os.fsync, b))
print(*sorted(first), tell(os.pwrite, b, b"x" * 1048576, 50 << 20),
      tell(os.pread, a, 4096, 0))
END
)
expect_equal "$said" "EIO fine EIO fine"
