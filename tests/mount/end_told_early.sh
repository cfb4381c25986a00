#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Told to stop before it has looked at its mount, or unmounted by then, the daemon
# finds nothing wrong with that: it serves whoever has a file open, and ends with
# status 0
. "$(dirname "$0")/lib.sh"
need_sim "a daemon in the foreground"
M=$W/mnt
mkdir "$M"
mounts+=("$M")
LD_PRELOAD=$BIN/slow_stat.so "$K80FS" -f -o backend=sim,sim_vram=16M "$M" \
	2>"$W/daemon" &
daemon=$!
await test -e "$M/die0/vram"
exec 3<>"$M/die0/vram"
kill -TERM $daemon
is_let_go() {
	! is_mounted "$M"
}
await is_let_go || fail "still mounted"
# it has looked by then
sleep 1
echo served >&3
exec 3>&-
wait $daemon || fail "exit status $?: $(cat "$W/daemon")"
! grep "does not work" "$W/daemon" || fail "it complains"

LD_PRELOAD=$BIN/slow_stat.so "$K80FS" -f -o backend=sim,sim_vram=16M "$M" \
	2>"$W/daemon" &
daemon=$!
await test -e "$M/die0/vram"
umount "$M"
wait $daemon || fail "unmounted: exit status $?: $(cat "$W/daemon")"
! grep "does not work" "$W/daemon" || fail "unmounted: it complains"
