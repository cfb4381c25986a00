#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was written behind and cannot get to its die, as a driver was bound to it,
# is lost at the end after a while: the exit status says so. Until then looks are
# answered, and signals do not kill.
# timeout: 200
. "$(dirname "$0")/lib.sh"
need_sim "a driver to order"
need_cmd python3
M=$W/mnt
SOCK=$W/sock
mkdir "$M"
mounts+=("$M")
"$K80FS" -f -o "backend=sim,sim_vram=16M,sim_ctl=$SOCK,wait=60000" "$M" \
	2>"$W/daemon" &
daemon=$!
await test -e "$M/status"
cat >"$W/client.py" <<'END'
import os, signal, socket, sys, time
m, sock, daemon = sys.argv[1], sys.argv[2], int(sys.argv[3])
a, b, look = [os.open(m + n, f) for n, f in (
    ("/die0/vram", os.O_RDWR), ("/die1/vram", os.O_RDWR),
    ("/die3/status", os.O_RDONLY))]
def order(text):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sock)
        s.sendall(text)
        assert s.recv(100).startswith(b"ok")
def written():
    for line in open(m + "/die1/status"):
        if line.startswith("written_bytes "):
            return int(line.split()[1])
# on a slow machine all of it may be in before the driver is
total = 0
while written() == total:
    order(b"driver 1 none\n")
    for i in range(4):
        os.pread(a, 1 << 20, i << 20)
        total += os.pwrite(b, b"b" * (1 << 20), i << 20)
    order(b"driver 1 nvidia\n")
os.kill(daemon, signal.SIGTERM)
slowest = 0
for i in range(20):
    start = time.monotonic()
    os.fstat(look)
    os.pread(look, 100, 0)
    slowest = max(slowest, time.monotonic() - start)
    if i == 5:
        os.kill(daemon, signal.SIGTERM)
    time.sleep(0.05)
print("slowest look: %.3f s" % slowest, flush=True)
assert slowest < 10
os._exit(0)
END
if ! timeout 100 python3 "$W/client.py" "$M" "$SOCK" $daemon; then
	fail "the client: $(cat "$W/daemon")"
fi
rc=0
wait $daemon || rc=$?
expect_equal "$rc" 1 "exit status of the daemon"
grep -q "are lost" "$W/daemon" || fail "the log: $(cat "$W/daemon")"
