#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a new image leaves out is cleared however its file goes: with a writer
# that is killed right before the end, and with a connection that is cut off
# timeout: 200
. "$(dirname "$0")/lib.sh"
need_sim "files for its dies"
need_root "to abort a connection"
need_cmd python3 unshare
M=$W/mnt
mkdir "$M" "$W/dies"
mounts+=("$M")
start() {
	"$K80FS" -f -o "backend=sim,sim_dies=2,sim_vram=16M,sim_dir=$W/dies,$1" \
		"$M" 2>"$W/daemon" &
	daemon=$!
	await test -e "$M/status"
	t "$M/die0/vram" rw fill,0,4M,1 fsync
}
# a new image of which nobody hears any more: its first MiB is a hole
cat >"$W/image.py" <<'END2'
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_TRUNC)
os.pwrite(fd, b"n" * 4096, 1 << 20)
print("written", flush=True)
time.sleep(600)
END2
begin_image() {
	rm -f "$W/written"
	python3 "$W/image.py" "$M/die0/vram" >"$W/written" &
	writer=$!
	await test -s "$W/written"
}
# the daemon has ended well, and the hole is one
expect_cleared() {
	wait $daemon || fail "exit status $?: $(cat "$W/daemon")"
	cmp -n 1048576 "$W/dies/die0" /dev/zero
	t "$W/dies/die0" r "verify,2M,2M,1"
}

# its close is cut short by the kill, and waits for a slot that is held
start sim_swap_us=20000,wait=60000
begin_image
echo pin >"$M/die1/ctl"
kill -9 $writer
wait $writer || :
umount "$M"
expect_cleared

# the kernel tells nobody that its files are closed
start wait=60000
begin_image
cat >"$W/abort" <<'END2'
minor=$(stat -c %Hd:%Ld "$1" | cut -d: -f2)
"$2" "$3" || exit
mount -t fusectl none /sys/fs/fuse/connections || exit
echo 1 >"/sys/fs/fuse/connections/$minor/abort"
END2
unshare -m sh "$W/abort" "$M" "$repo/tests/drop-mounts.sh" "$W"
expect_cleared
kill -9 $writer
wait $writer || :
umount "$M"
