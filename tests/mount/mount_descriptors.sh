#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Opening and closing files leaves no descriptor and no thread in the daemon
. "$(dirname "$0")/lib.sh"
mount_sim

daemon=$(daemon_pid)
count() {
	ls "/proc/$daemon/fd" | wc -l
}
use() {
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		t "$(die $((i % 2)))/vram" rw pwrite,0,10,1
		cat "$(die 0)/status" "$M/status" "$(die 0)/ctl" >"$W/log"
		ctl 0 acquire
		ctl_errno 0 EINVAL nonsense
		ls -lR "$M" >"$W/log"
	done
}
use
before=$(count)
for _ in 1 2 3 4 5; do
	use
done
after=$(count)
[ "$after" -le $((before + 2)) ] || fail "descriptors: $before, then $after"
