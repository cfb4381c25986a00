# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: parked.py FILE N: N threads write 1 MiB each to FILE, which waits

Says "parked" when no more of them end, then what came of all after a line on
standard input: how many were written, and how many had no memory.
"""
import errno
import os
import sys
import threading

threading.stack_size(65536)
block = b"p" * (1 << 20)
results = []


def write(fd, off):
    try:
        results.append(os.pwrite(fd, block, off) == len(block))
    except OSError as e:
        results.append(e.errno)


fd = os.open(sys.argv[1], os.O_RDWR)
threads = [threading.Thread(target=write, args=(fd, (i % 64) << 20))
           for i in range(int(sys.argv[2]))]
for t in threads:
    t.start()
before = -1
while len(results) != before:
    before = len(results)
    threading.Event().wait(1)
print("parked", len(results), flush=True)
sys.stdin.readline()
for t in threads:
    t.join()
print("written", results.count(True), "no memory", results.count(errno.ENOMEM),
      "of", len(results), flush=True)
