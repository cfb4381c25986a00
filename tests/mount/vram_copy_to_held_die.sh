#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The holder of a die may write to it while somebody's copy to it waits: the
# kernel would keep the file's lock for a parked copy
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

t "$(die 0)/vram" rw fill,8M,1M,1
for how in pin lease; do
	exec 3>"$(die 1)/ctl"
	echo $how >&3
	"$BIN/tool" "$(die 0)/vram" r "cfr,8M,$(die 1)/vram,8M,1M" 3>&- &
	copy=$!
	wait_waiters 0 1
	kill -0 $copy || fail "$how: the copy did not wait for its source"
	soon t "$(die 1)/vram" rw pwrite,0,4096,1 fsync \
		fallocate,punch,8M,4096
	echo unpin >&3
	exec 3>&-
	wait $copy
	t "$(die 1)/vram" rw verify,8M,1M,1 fallocate,punch,8M,1M
done
