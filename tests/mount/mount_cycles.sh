#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mounted and unmounted many times: no process, mount, descriptor or file stays
# timeout: 400
. "$(dirname "$0")/lib.sh"
cycles=$(often 200 50)
[ "$K80FS_BACKEND" = sim ] || cycles=20
mkdir "$W/a"

# of the whole machine, where it shows them: a container may not
connections() {
	local dir=/sys/fs/fuse/connections
	[ ! -d $dir ] || find $dir -mindepth 1 -maxdepth 1
}
files() {
	find "$W" -mindepth 1 | sort
}
# those of this shell, which has a pipe more while it takes what another prints
count_fds() {
	ls /proc/$$/fd >"$W/fds"
	n_fds=$(wc -l <"$W/fds")
}
opts=backend=$K80FS_BACKEND
[ "$K80FS_BACKEND" != sim ] || opts+=,sim_vram=64M
: >"$W/log"
: >"$W/umount.err"
: >"$W/fds"
before=$(files)
connections=$(connections | wc -l)
count_fds
fds=$n_fds
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
is_gone() {
	[ -z "$(daemon_pids "$W/a")" ]
}
await is_gone || :
expect_equal "$(daemon_pids "$W/a")" "" "processes left"
if is_mounted "$W/a"; then
	fail "still mounted"
fi
expect_equal "$(files)" "$before" "files left"
count_fds
expect_equal "$n_fds" "$fds" "descriptors"
if grep -F " $W/" /proc/self/mountinfo; then
	fail "mounts left"
fi
# others may mount meanwhile, but not as often
now=$(connections | wc -l)
[ $((now - connections)) -lt $((cycles / 2)) ] ||
	fail "$now fuse connections, $connections before"
