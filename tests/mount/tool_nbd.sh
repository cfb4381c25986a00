#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Dies over NBD as k80-nbd.service serves them: with a key only, two clients on
# two dies at once, a partition and a file system, trim
. "$(dirname "$0")/lib.sh"
need_cmd nbdkit nbdcopy nbdinfo nbdfuse psktool python3 mkfs.ext4 sfdisk
mount_sim
UNIT=$repo/mount-helpers/k80-nbd.service

# unit KEY: what the unit has there, with folders of this test
unit() {
	sed -n "s/^$1=//p" "$UNIT" |
		sed "s|/etc/k80-nbd.psk|$W/psk|; s|/run/k80-nbd|$W/dies|; s|[$][$]|$|g"
}

mkdir "$W/dies"
psktool -u k80 -p "$W/psk" >"$W/psktool" 2>&1 || fail "$(cat "$W/psktool")"
psktool -u k80 -p "$W/other" >"$W/psktool" 2>&1 || fail "$(cat "$W/psktool")"
K80FS_DIR=$M RUNTIME_DIRECTORY=$W/dies sh -c "$(unit ExecStartPre |
	sed "s/^[^']*'//; s/'\$//")"
# as systemd does it: the socket is descriptor 3
cat >"$W/serve.py" <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(16)
if s.fileno() != 3:
    os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execvp("sh", ["sh", "-c", "exec " + sys.argv[2]])
END
python3 "$W/serve.py" "$W/sock" "$(unit ExecStart)" &
server=$!
await test -S "$W/sock"
uri() {
	echo "nbds+unix://k80@/die$1?socket=$W/sock&tls-psk-file=${2:-$W/psk}"
}

await nbdinfo "$(uri 0)" >"$W/info" || fail "no answer: $(cat "$W/info")"
expect_equal "$(nbdinfo --size "$(uri 0)")" "$(stat -c %s "$(die 0)/vram")" size
expect_equal "$(nbdinfo --list "$(uri '' | sed 's/die//')" | grep -c '^export=')" \
	"$(find "$M" -maxdepth 1 -name 'die*' | wc -l)" "exports"
if nbdinfo "$(uri 0 "$W/other")" >"$W/log" 2>&1; then
	fail "served to who has another key"
fi
if nbdinfo "nbd+unix:///die0?socket=$W/sock" >"$W/log" 2>&1; then
	fail "served without a key"
fi

head -c 3000001 /dev/urandom >"$W/a"
head -c 3000001 /dev/urandom >"$W/b"
nbdcopy --destination-is-zero "$W/a" "$(uri 0)" &
a=$!
nbdcopy --destination-is-zero "$W/b" "$(uri 1)" || fail "nbdcopy to die 1"
wait $a || fail "nbdcopy to die 0"
cmp -n 3000001 "$W/a" "$(die 0)/vram" || fail "die 0"
cmp -n 3000001 "$W/b" "$(die 1)/vram" || fail "die 1"
nbdcopy "$(uri 1)" "$W/back" || fail "nbdcopy from die 1"
cmp "$W/back" "$(die 1)/vram" || fail "what came back"

# nbdfuse takes no key from an address
mkdir "$W/nbd"
mounts+=("$W/nbd")
nbdfuse "$W/nbd" [ nbdkit file "$(die 2)/vram" ] &
await test -e "$W/nbd/nbd"
printf 'label: dos\nstart=2048, size=8192, type=83\n' |
	sfdisk -q --no-reread --no-tell-kernel "$W/nbd/nbd" >"$W/log" 2>&1 ||
	fail "sfdisk: $(cat "$W/log")"
mkfs.ext4 -q -F -E offset=$((2048 * 512)) "$W/nbd/nbd" 4M >"$W/log" 2>&1 ||
	fail "mkfs: $(cat "$W/log")"
fusermount3 -u "$W/nbd"
sfdisk -d "$(die 2)/vram" | grep -q 'size= *8192, type=83' || fail "partition"
dd if="$(die 2)/vram" of="$W/part" bs=512 skip=2048 count=8192 status=none
e2fsck -fn "$W/part" >"$W/log" 2>&1 || fail "e2fsck: $(cat "$W/log")"

nbdfuse "$W/nbd" [ nbdkit file "$(die 0)/vram" ] &
await test -e "$W/nbd/nbd"
fallocate -p -o 1M -l 1M "$W/nbd/nbd" || fail "trim"
fusermount3 -u "$W/nbd"
cmp -n 1048576 "$(die 0)/vram" "$W/a" || fail "before what was trimmed"
cmp -n 1048576 -i 1048576:0 "$(die 0)/vram" /dev/zero || fail "trimmed"
cmp -n 902849 -i 2097152 "$(die 0)/vram" "$W/a" || fail "behind it"
kill $server
wait $server
