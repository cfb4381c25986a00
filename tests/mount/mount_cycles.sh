#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 200 times mounted and unmounted: no process, mount, descriptor or file stays
# timeout: 400
. "$(dirname "$0")/lib.sh"
cycles=200
[ "$K80FS_BACKEND" = sim ] || cycles=20
mkdir "$W/a"

files() {
	find "$W" -mindepth 1 | sort
}
opts=backend=$K80FS_BACKEND
[ "$K80FS_BACKEND" != sim ] || opts+=,sim_vram=64M
: >"$W/log"
: >"$W/umount.err"
before=$(files)
mounts_before=$(wc -l </proc/self/mountinfo)
connections=$(find /sys/fs/fuse/connections -mindepth 1 -maxdepth 1 | wc -l)
fds=$(ls /proc/$$/fd | wc -l)
for ((i = 0; i < cycles; i++)); do
	# the daemon before may still be on its way out
	"$K80FS" -o "${opts/sim_vram/sim_ctl=$W/sock$i,sim_vram}" "$W/a"
	head -c 10 "$W/a/die$((i % 2))/vram" >"$W/log"
	echo acquire >"$W/a/die0/ctl"
	if [ $((i % 2)) = 0 ]; then
		fusermount3 -u "$W/a"
	else
		umount "$W/a"
	fi
done
for ((i = 0; i < 100; i++)); do
	[ -n "$(daemon_pids "$W/a")" ] || break
	sleep 0.1
done
expect_equal "$(daemon_pids "$W/a")" "" "processes left"
if is_mounted "$W/a"; then
	fail "still mounted"
fi
expect_equal "$(files)" "$before" "files left"
expect_equal "$(ls /proc/$$/fd | wc -l)" "$fds" "descriptors"
# others may mount meanwhile, but not two hundred times
now=$(wc -l </proc/self/mountinfo)
[ $((now - mounts_before)) -lt 50 ] || fail "mounts rose by $((now - mounts_before))"
now=$(find /sys/fs/fuse/connections -mindepth 1 -maxdepth 1 | wc -l)
[ $((now - connections)) -lt 50 ] || fail "$now fuse connections"
