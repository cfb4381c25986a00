#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each write is parsed alone: printf through cat, split writes, > and >>
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim
c=$(die 0)/ctl

printf 'acquire\npin\n' | cat >"$c"
expect_status 0 hold pin
expect_error "Invalid argument" bash -c "printf 'unpin\nfoo\n' | cat >'$c'"
expect_status 0 hold none
# nothing is kept between two writes: half a command is no command
t "$c" w "puts,acq:EINVAL" "puts,uire\n:EINVAL"
t "$c" w "puts,release" "puts,\n" "puts,acquire" "puts,pin\n"
expect_status 0 hold pin
ctl 0 unpin
# dd bs=1 writes single letters
expect_error "Invalid argument" dd of="$c" bs=1 status=none <<<acquire
# bash's printf writes each line by itself
bash -c "printf 'pin\nunpin\n' >'$c'"
bash -c "printf 'pin' >'$c'"
expect_status 0 hold pin
echo unpin >>"$c"
expect_status 0 hold none
echo pin >"$c"
busybox sh -c "echo unpin >>'$c'; echo pin >'$c'"
expect_status 0 hold pin
tee -a "$c" <<<unpin >"$W/log"
busybox tee "$c" <<<release >"$W/log"
expect_status 0 state idle
cp <(echo acquire) "$c"
expect_status 0 state active
# the position is ignored
t "$c" rw "pputs,100000,pin\n" "pputs,3,unpin\n" lseek,50,set "puts,pin\n" \
	"puts,release\n"
t "$c" w+append "puts,acquire\n"
t "$c" w+trunc "puts,release\n"
