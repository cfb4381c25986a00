#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of the daemon under load: clients get an error, the device its memory
. "$(dirname "$0")/lib.sh"
VRAM=1G mount_cuda
pids=()
for i in 0 1 2; do
	(while dd if=/dev/zero of="$(die 0)/vram" bs=1M count=256 \
		seek=$((i * 256)) conv=notrunc status=none; do :; done) 2>/dev/null &
	pids+=($!)
	(while dd if="$(die 0)/vram" of=/dev/null bs=1M count=256 \
		skip=$((i * 256)) status=none; do :; done) 2>/dev/null &
	pids+=($!)
done
sleep 1
free=$(number 0 memory_free)
kill -9 "$(daemon_pid)"
wait "${pids[@]}" || :
expect_error "not connected" stat "$(die 0)/vram"
umount "$M"
VRAM=1G mount_cuda
# what the streams of the first one took may be gone, but no gigabyte
[ "$(number 0 memory_free)" -gt $((free - (256 << 20))) ] ||
	fail "free was $free, is $(number 0 memory_free)"
cmp -n $((64 << 20)) "$(die 0)/vram" /dev/zero
