#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# On a slow device: what write(2) has answered a program that maps the file
# reads, and what a program wrote a reader sees who reads in order; also when
# the daemon is another one than the program knew
. "$(dirname "$0")/lib.sh"
VRAM=256M use_mem
export STANDIN_COPY_US=100000
VRAM=256M mount_mem
export -n STANDIN_COPY_US
truncate -s 8M "$(mem 0)/x"
mkfifo "$W/again" "$W/ready"
python_mem - "$(mem 0)/x" "$W/ready" "$W/again" <<'P' &
import os, sys
sys.path.insert(0, os.environ["K80_TEST_HERE"])
from mem_prog import Program
path, ready, again = sys.argv[1:]
K = 128 << 10
program = Program()
program.do_map(path, "write")


def check(turn):
    fd = os.open(path, os.O_RDWR)
    for i in range(8):
        os.pwrite(fd, b"%d%d" % (turn, i), 5 * i)
        got = bytes.fromhex(program.do_read(5 * i, 2))
        assert got == b"%d%d" % (turn, i), f"write {i} of turn {turn}: {got}"
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    for i in range(32):
        want = os.urandom(2)
        if i >= 8:
            # it may have been read ahead of us
            program.do_write(i * K, want.hex())
        got = os.read(fd, K)
        assert len(got) == K and (i < 8 or got[:2] == want), \
            f"block {i} of turn {turn} is old"
    os.close(fd)


check(1)
open(ready, "w").close()
open(again).close()
check(2)
P
prog=$!
: <"$W/ready"
mem_kill
export STANDIN_COPY_US
mem_again
export -n STANDIN_COPY_US
: >"$W/again"
wait "$prog"
rm "$(mem 0)/x"
