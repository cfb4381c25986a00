#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# st_size is the length the text would have now; reads end with the snapshot
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim

check() {
	local f
	for f in "$(die 0)/status" "$(die 1)/status" "$M/status"; do
		expect_equal "$(stat -c %s "$f")" "$(cat "$f" | wc -c)" "size of $f"
	done
}
check
mode=$(status 0 bar1_mode)
size=$(stat -c %s "$(die 0)/status")
t "$(die 0)/vram" rw pwrite,0,1M,1 pread,0,1M
check
ctl 1 pin
check
ctl 1 unpin
ctl root release
# counters have a fixed width: the same state has the same length
expect_equal "$(cat "$(die 0)/status" | wc -c)" "$((size + \
	$(printf %s "$(status 0 bar1_mode)" | wc -c) - ${#mode}))" "size later"
t "$(die 0)/status" r "pread,$(stat -c %s "$(die 0)/status"),10:0" \
	pread,100000,10:0
if [ "$K80FS_BACKEND" = sim ]; then
	sim fail 0 1 EIO
	t "$(die 0)/ctl" w "puts,acquire\n:EIO"
	check
fi
tail -c 10 "$(die 0)/status" >"$W/tail"
expect_equal "$(wc -c <"$W/tail")" 10 "tail -c"
