#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reading or writing a die that is out brings it in; one that is in stays
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

expect_status root active none
t "$(die 2)/vram" r pread,0,10
expect_status 2 state active
expect_status root active 2
expect_status 0 state idle
swaps=$(status 2 swaps_in)
t "$(die 2)/vram" rw pread,4096,4096 pwrite,0,1,5 fsync
expect_equal "$(status 2 swaps_in)" "$swaps" "swaps_in of a die that is in"
t "$(die 1)/vram" rw pwrite,7,1,9
expect_status 1 state active
expect_status 2 state idle
expect_equal "$(root_status mapped | tr -d ' ')" \
	"01$(printf '%0*d' $((N - 2)) 0)" "mapped"
expect_status root active 1
t "$(die 2)/vram" r pread,0,1
[ "$(status 2 swaps_in)" -gt "$swaps" ] || fail "swaps_in did not rise"
