#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A die that dies in the middle of writes: EIO at the write, fsync or close
. "$(dirname "$0")/lib.sh"
need_sim "a die that dies"
VRAM=1G mount_sim
v=$(die 0)/vram

exec 5<>"$v" 6<>"$(die 1)/vram"
# pinned: a die that rests has been synced, and fsync does not touch it again;
# by one process: a child's copy of the file, when closed, syncs too
ctl 0 pin
said=$(python3 - "$v" "$SOCK" <<'END'
import errno, os, socket, sys
f = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(f, b"x" * 65536, 0)
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[2])
    s.sendall(b"dead 0\n")
    assert s.recv(100) == b"ok\n"
try:
    os.fsync(f)
    print("fine")
except OSError as e:
    print(errno.errorcode[e.errno])
END
)
expect_equal "$said" EIO "fsync after the die died"
ctl 0 unpin
t fd:5 - pwrite,0,4096,1:EIO pread,0,4096:EIO fallocate,punch,0,1M:EIO
t fd:6 - "cfr,0,$(die 2)/vram,0,1M" pwrite,0,4096,1 fsync
t fd:6 - pread,0,4096
exec 5>&- 6>&-

# who comes back is looked at by the next acquire
sim revive 0
ctl 0 acquire
# over and over, as a whole die may be written before it dies
(while dd if=/dev/zero of="$v" bs=1M count=512 conv=notrunc status=none; do
	:
done; exit 1) 2>"$W/dd.err" &
pid=$!
before=$(number 0 written_bytes)
has_written() {
	[ "$(number 0 written_bytes)" -gt "$before" ]
}
await has_written || fail "dd does not write"
sim dead 0
if wait $pid; then
	fail "dd to a die that died ended well"
fi
grep -q "Input/output error\|No such device or address" "$W/dd.err" ||
	fail "dd said: $(cat "$W/dd.err")"
t "$(die 1)/vram" rw pwrite,0,10,1 same,0,10,1
