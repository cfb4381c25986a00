#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeslice MS|auto sets and shows the slice; the mount option too
. "$(dirname "$0")/lib.sh"
mount_sim timeslice=37

expect_status root timeslice_ms 37
ctl root timeslice 50
expect_status root timeslice_ms 50
ctl root timeslice auto
[[ $(root_status timeslice_ms) =~ ^(auto|[0-9]+) ]] ||
	fail "timeslice_ms is '$(root_status timeslice_ms)'"
t "$M/ctl" w "puts,timeslice 10\n"
expect_status root timeslice_ms 10
