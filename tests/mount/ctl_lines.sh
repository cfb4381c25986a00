#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several lines in one write run in order; the first failure stops them
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim
c=$(die 0)/ctl

t "$c" w "puts,acquire\npin\nunpin\n"
expect_status 0 state active
expect_status 0 hold none
t "$c" w "puts,acquire\npin" "puts,\nrelease"
expect_status 0 state idle
t "$c" w "puts,\n" "puts,\n\n\n" "puts,\nacquire\n\npin\n\n"
expect_status 0 hold pin
# the answer is the count of the bytes of the lines that succeeded
t "$c" w "puts,unpin\nbogus\npin\n:6"
expect_status 0 hold none
t "$c" w "puts,\n\nunpin\nacquire 1\n:8" "puts,bogus\nacquire\n:EINVAL" \
	"puts,release\nbogus\n:8"
expect_status 0 state idle
t "$c" w "puts,acquire\nrelease\npin\nzero 0 4096\nfoo\n:32"
expect_status 0 hold pin
t "$c" w "puts,  acquire  \n" "puts,\tunpin\n" "puts,release \n"
t "$M/ctl" w "puts,timeslice 30\nrelease\ntimeslice auto\n"
