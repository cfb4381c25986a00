#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A driver that is bound, or BAR1 that turns virtual, while a file is open and
# its die is pinned or leased: from that moment nothing goes through that file
. "$(dirname "$0")/lib.sh"
need_sim "a driver that is bound"
need_cmd python3
mount_sim
cat >"$W/intrude.py" <<'END'
import errno, os, socket, sys
vram, sock, order, undo = sys.argv[1:5]
f = os.open(vram, os.O_RDWR)
assert os.pwrite(f, b"mine" * 1024, 0) == 4096
s = socket.socket(socket.AF_UNIX)
def tell(line):
    global s
    s.close()
    s = socket.socket(socket.AF_UNIX)
    s.connect(sock)
    s.sendall(line.encode() + b"\n")
    assert s.recv(100).startswith(b"ok"), line
through = {"pwrite": 0, "pread": 0}
tell(order)
for i in range(100):
    for name, what in (("pwrite", lambda: os.pwrite(f, b"evil" * 1024, 0)),
                       ("pread", lambda: os.pread(f, 4096, 0))):
        try:
            what()
            through[name] += 1
        except OSError as e:
            assert e.errno == errno.EBUSY, e
tell(undo)
# what the module remembers of BAR1 is as of the last acquire
with open(os.path.dirname(vram) + "/ctl", "w") as ctl:
    ctl.write("acquire\n")
print(order, through)
assert not any(through.values())
# that BAR1 is virtual nobody is told: the first write finds out
now = os.pread(f, 4096, 0)
assert "driver" not in order or now == b"mine" * 1024, "it was written"
END
for hold in pin lease; do
	exec 3>"$(die 0)/ctl"
	echo $hold >&3
	python3 "$W/intrude.py" "$(die 0)/vram" "$SOCK" "driver 0 nvidia" \
		"driver 0 none"
	python3 "$W/intrude.py" "$(die 0)/vram" "$SOCK" "stuck 0" \
		"physical 0"
	exec 3>&-
	ctl 0 unpin
done
