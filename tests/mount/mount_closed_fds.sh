#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Started without standard input, output or error it returns, and what it opens
# does not take their place; what its caller has open is not kept
. "$(dirname "$0")/lib.sh"
need_sim "many mounts of little dies"
need_cmd flock
opts=backend=sim,sim_vram=64M,sim_dies=2

start() {
	mounts+=("$W/$1")
	mkdir "$W/$1"
	case $1 in
	in) timeout 20 "$K80FS" -o $opts "$W/$1" <&- ;;
	out) timeout 20 "$K80FS" -o $opts "$W/$1" >&- ;;
	err) timeout 20 "$K80FS" -o $opts "$W/$1" 2>&- ;;
	all) timeout 20 "$K80FS" -o $opts "$W/$1" <&- >&- 2>&- ;;
	esac
}

for closed in in out err all; do
	start $closed
	M=$W/$closed
	echo one >"$M/die0/vram"
	echo two >"$M/die1/vram"
	expect_equal "$(head -c 3 "$M/die0/vram")" one "$closed: die 0"
	expect_equal "$(head -c 3 "$M/die1/vram")" two "$closed: die 1"
	expect_equal "$(root_status last_error)" none
	unmount "$M"
done

exec 9>"$W/lock"
flock 9
mount_at "$W/kept" $opts
exec 9>&-
flock -n "$W/lock" true || fail "the daemon keeps its caller's lock"
