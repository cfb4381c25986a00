#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# AIO at depth 256 parked on two dies fills the queue that RELEASE waits in: the
# lease of a third ends with its descriptor all the same, and not before
# alone
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
		--bs=4k --direct=1 --ioengine=libaio --iodepth=256 \
		--size=16M --number_ios=512 --allow_file_create=0 \
		--output="$W/fio$d" 2>"$W/err$d" 3>&- &
	pids+=($!)
done
waiting() {
	echo $(($(number 1 waiters) + $(number 2 waiters)))
}
for ((i = 0; i < 100 && $(waiting) < 200; i++)); do sleep 0.1; done
[ "$(waiting)" -ge 200 ] || fail "$(waiting) requests wait"
# a command of the shell that has it closes a copy of it each time
echo >&3
expect_status 0 hold lease
within 1000 t "$(die 0)/vram" rw pwrite,0,4096,1 pread,0,4096
start=$(now_ms)
exec 3>&-
wait_status 0 hold none 1000
[ $(($(now_ms) - start)) -lt 1500 ] || fail "the lease ended late"
for p in "${pids[@]}"; do
	wait "$p" || fail "fio: $(cat "$W"/err*)"
done
