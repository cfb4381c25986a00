#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# AIO at depth 64 parked on another die does not hold back the end of a lease
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
need_cmd fio
mount_sim wait=60000

exec 3>"$(die 0)/ctl"
echo lease >&3
pids=()
for d in 1 2; do
	# without the lease's descriptor, which ends with its last copy
	fio --name=aio --filename="$(die "$d" | sed 's/:/\\:/g')/vram" --rw=randread \
		--bs=4k --direct=1 --ioengine=libaio --iodepth=64 \
		--size=16M --number_ios=512 --allow_file_create=0 \
		--output="$W/fio$d" 2>"$W/err$d" 3>&- &
	pids+=($!)
done
wait_waiters 1 32
soon t "$(die 0)/vram" rw pwrite,0,4096,1 pread,0,4096
start=$(now_ms)
exec 3>&-
wait_status 0 hold none
soon_after "$start" "the end of the lease"
for p in "${pids[@]}"; do
	wait "$p" || fail "fio: $(cat "$W"/err*)"
done
