#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A die that cannot be put in is one line of the log, not one a request
. "$(dirname "$0")/lib.sh"
need_sim "a driver to order"
M=$W/mnt
SOCK=$W/sock
mkdir "$M"
mounts+=("$M")
"$K80FS" -f -o "backend=sim,sim_vram=16M,sim_ctl=$SOCK" "$M" 2>"$W/daemon" &
await test -e "$M/status"

refused() {
	local i
	sim driver 0 nvidia
	for ((i = 0; i < 50; i++)); do
		t "$(die 0)/vram" r "pread,0,4096:EBUSY"
	done
	sim driver 0 none
	t "$(die 0)/vram" r pread,0,4096
	ctl 0 release
}

lines() {
	grep -c "die=0 acquire failed" "$W/daemon" || :
}

refused
expect_equal "$(lines)" 1 "lines of the log"
# it was in since: that is news
refused
expect_equal "$(lines)" 2 "lines of the log"
