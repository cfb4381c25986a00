#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fusermount3 -u, umount and SIGTERM close cleanly and leave the die where it is
. "$(dirname "$0")/lib.sh"
mkdir "$W/dies"

has_ended() {
	[ -z "$(daemon_pids "$M")" ]
}
gone() {
	await has_ended || :
	expect_equal "$(daemon_pids "$M")" "" "daemon after $1"
	if is_mounted "$M"; then
		fail "still mounted after $1"
	fi
}
mount_sim "sim_dir=$W/dies"
t "$(die 1)/vram" rw pwrite,0,64K,1
fusermount3 -u "$M"
gone "fusermount3 -u"

mount_sim "sim_dir=$W/dies"
t "$(die 1)/vram" rw same,0,64K,1 pwrite,64K,64K,2
kill -TERM "$(daemon_pid)"
gone SIGTERM

mount_sim "sim_dir=$W/dies"
t "$(die 1)/vram" rw same,0,64K,1 same,64K,64K,2 pwrite,128K,64K,3
kill -INT "$(daemon_pid)"
gone SIGINT

# with requests waiting, and a die held: still at once. The hold ends with the
# daemon, and who waited for that is served.
mount_sim "sim_dir=$W/dies" wait=60000
ctl 0 pin
pids=()
for i in 1 2 3; do
	"$BIN/tool" "$(die 1)/vram" r pread,0,4096 2>>"$W/err" &
	pids+=($!)
done
wait_waiters 1 3
kill -TERM "$(daemon_pid)"
for p in "${pids[@]}"; do
	wait "$p" || fail "a read that waited: $(cat "$W/err")"
done
gone "SIGTERM under load"
# the module keeps the die in, until mount_sim takes it out; the simulator's
# slot starts empty
if [ "$K80FS_BACKEND" = bar_swap ]; then
	mount_at "$M" backend=bar_swap
	expect_status root active 0
else
	mount_sim "sim_dir=$W/dies"
	expect_status root active none
fi
t "$(die 1)/vram" rw same,0,64K,1 same,64K,64K,2 same,128K,64K,3
