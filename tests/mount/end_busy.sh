#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Told to stop with a file open, the daemon lets the mount go, and serves until
# that file is closed; a second signal changes nothing, and neither does another
# daemon that is mounted there meanwhile
. "$(dirname "$0")/lib.sh"
need_sim "files for its dies"
mkdir "$W/dies" "$W/others"
random_file "$W/x" 1048576 x
random_file "$W/y" 1048576 y
M=$W/mnt
mkdir "$M"
mounts+=("$M")
"$K80FS" -f -o "backend=sim,sim_vram=16M,sim_dir=$W/dies" "$M" 2>"$W/daemon" &
daemon=$!
await test -e "$M/status"
exec 3<>"$M/die1/vram"
kill -TERM $daemon
is_let_go() {
	! is_mounted "$M"
}
await is_let_go || fail "still mounted"
cat "$W/x" >&3
kill -TERM $daemon
kill -INT $daemon
sleep 6
kill -0 $daemon || fail "it left with a file open"
"$K80FS" -o "backend=sim,sim_vram=16M,sim_dir=$W/others" "$M"
cat "$W/y" >&3
exec 3>&-
wait $daemon || fail "exit status $?: $(cat "$W/daemon")"
cmp -n 2097152 "$W/dies/die1" <(cat "$W/x" "$W/y")
is_mounted "$M" || fail "it took the other daemon's mount away"
t "$(die 0)/vram" rw pwrite,0,4096,1 same,0,4096,1
