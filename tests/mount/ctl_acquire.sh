#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# acquire puts the die in; later I/O elsewhere may take it out again
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

swaps=$(number 1 swaps_in)
ctl 1 acquire
expect_status 1 state active
expect_status root active 1
expect_status 1 hold none
n=$(status 1 acquires)
ctl 1 acquire nowait
ctl 1 acquire wait=100
[ "$(status 1 acquires)" -gt "$n" ] || fail "acquires did not count"
expect_equal "$(number 1 swaps_in)" $((swaps + 1)) "swaps of a die that is in"
ctl 0 acquire wait=0
expect_status 0 state active
expect_status 1 state idle
head -c 1 "$(die 2)/vram" >"$W/log"
expect_status 2 state active
soon ctl 1 acquire
