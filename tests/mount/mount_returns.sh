#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command returns when the tree is there; -f stays in the foreground
. "$(dirname "$0")/lib.sh"
need_sim "many mounts"
mkdir "$W/a"

for i in 1 2 3 4 5; do
	mount_at "$W/a" backend=sim,sim_vram=64M
	is_mounted "$W/a" || fail "returned before it was mounted"
	expect_equal "$(head -1 "$W/a/die0/status")" "die 0" "mount $i"
	head -c 100 "$W/a/die0/vram" >"$W/log"
	unmount "$W/a"
done

"$K80FS" -f -o backend=sim,sim_vram=64M "$W/a" 2>"$W/log" &
pid=$!
await is_mounted "$W/a"
head -c 100 "$W/a/die1/vram" | cmp -n 100 - /dev/zero
expect_equal "$(daemon_pid "$W/a")" "$pid" "-f stays the same process"
umount "$W/a"
wait $pid

# -d tells what goes on
"$K80FS" -d -o backend=sim,sim_vram=64M "$W/a" >"$W/debug" 2>&1 &
pid=$!
await is_mounted "$W/a"
stat "$W/a/die0/vram" >"$W/log"
umount "$W/a"
wait $pid
grep -qi lookup "$W/debug" || fail "-d told nothing"
