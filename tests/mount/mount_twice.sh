#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A second k80fs on the same folder is refused, by any name of it; the first one
# goes on
. "$(dirname "$0")/lib.sh"
mount_sim
t "$(die 0)/vram" rw pwrite,0,4096,1
ln -s "$M" "$W/link"
for dir in "$M" "$M/" "$W/link"; do
	rc=0
	"$K80FS" -o backend=sim,sim_vram=64M "$dir" 2>"$W/err" || rc=$?
	expect_equal "$rc" 2 "exit code"
	grep -qF "$dir: k80fs is already mounted there" "$W/err" ||
		fail "said: $(cat "$W/err")"
done
expect_equal "$(grep -c " $M " /proc/self/mountinfo)" 1 "mounts there"
t "$(die 0)/vram" r same,0,4096,1
