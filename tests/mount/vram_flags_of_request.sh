#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The flags of each request count, not those of open alone: what is to be
# synchronous outlives a killed daemon, and O_NONBLOCK may come and go.
# timeout: 300
. "$(dirname "$0")/lib.sh"
need_sim "its dies outlive the daemon"
need_cmd python3

# in turn: a read of die 0, a write of die 1 that is to be synchronous
cat >"$W/alternate.py" <<'END'
import fcntl, os, sys
how, mnt = sys.argv[1:]
a = os.open(mnt + "/die0/vram", os.O_RDONLY)
b = os.open(mnt + "/die1/vram", os.O_RDWR |
            {"O_DSYNC": os.O_DSYNC, "O_SYNC": os.O_SYNC}.get(how, 0))
flags = {"RWF_DSYNC": os.RWF_DSYNC, "RWF_SYNC": os.RWF_SYNC}.get(how, 0)
for i in range(8):
    os.pread(a, 1 << 20, i << 20)
    assert os.pwritev(b, [b"K" * (1 << 20)], i << 20, flags) == 1 << 20
# no close before the daemon is killed
os.kill(int(os.environ["DAEMON"]), 9)
END

# survive HOW [OPTION]: all of it is in the die's file afterwards
survive() {
	mkdir "$W/$1"
	DIES=2 VRAM=16M mount_sim "sim_dir=$W/$1" sim_swap_us=20000 "${@:2}"
	DAEMON=$(daemon_pid) python3 "$W/alternate.py" "$1" "$M" || :
	umount -l "$M"
	expect_equal "$(head -c 8M "$W/$1/die1" | tr -d '\0' | tr -d K | wc -c)" 0
	expect_equal "$(head -c 8M "$W/$1/die1" | tr -cd K | wc -c)" $((8 << 20)) \
		"$1: bytes that are in the die"
}

survive RWF_DSYNC
survive RWF_SYNC
survive O_DSYNC
survive O_SYNC
survive mounted sync
mount_sim sync
findmnt -n -o OPTIONS "$M" | grep -qw sync || fail "/proc/mounts does not say so"

# O_NONBLOCK set and cleared after open
DIES=2 VRAM=16M mount_sim wait=5000
ctl 0 pin
python3 - "$M" <<'END'
import errno, fcntl, os, sys, time
def fails(what, *args):
    start = time.monotonic()
    try:
        what(*args)
    except OSError as e:
        return errno.errorcode[e.errno], time.monotonic() - start
    raise SystemExit("succeeded")
def check(fd, what, *args):
    get = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, get | os.O_NONBLOCK)
    name, took = fails(what, fd, *args)
    assert (name, took < 2.5) == ("EBUSY", True), (what, name, took)
    fcntl.fcntl(fd, fcntl.F_SETFL, get & ~os.O_NONBLOCK)
    name, took = fails(what, fd, *args)
    assert (name, took > 2.5) == ("ETIMEDOUT", True), (what, name, took)
mnt = sys.argv[1]
vram = os.open(mnt + "/die1/vram", os.O_RDWR)
check(vram, os.pread, 10, 0)
check(vram, os.pwrite, b"x" * 10, 0)
check(os.open(mnt + "/die1/ctl", os.O_WRONLY), os.write, b"acquire\n")
# also the one that was there at open goes
fd = os.open(mnt + "/die1/vram", os.O_RDWR | os.O_NONBLOCK)
check(fd, os.pread, 10, 0)
END
