#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lookup, getattr, readdir, statfs, status and opens answer while a swap runs
# and requests wait for it
# alone
. "$(dirname "$0")/lib.sh"
need_sim "slow swaps"
mount_sim sim_swap_us=10000000 wait=20000

pids=()
for d in 1 2 3; do
	head -c 1M "$(die $d)/vram" >"$W/out$d" &
	pids+=($!)
done
for i in 1 2; do
	dd if=/dev/zero of="$(die 3)/vram" bs=1M seek=$i count=1 conv=notrunc \
		status=none &
	pids+=($!)
done
sleep 0.3
start=$(now_ms)
for d in 0 1 2 3; do
	within 1000 stat "$(die $d)/vram" >"$W/log"
	within 1000 ls -lR "$(die $d)" >"$W/log"
	within 1000 cat "$(die $d)/status" >"$W/log"
	within 1000 cat "$(die $d)/ctl" >"$W/log"
	# the kernel makes these wait for a write to the same file
	[ $d != 3 ] || continue
	within 1000 touch "$(die $d)/vram"
	within 1000 t "$(die $d)/vram" rw "size:$CAP" ftruncate,0 lseek,0,hole \
		poll,1,0
done
within 1000 df "$M" >"$W/log"
within 1000 cat "$M/status" >"$W/log"
within 1000 find "$M" >"$W/log"
# all of that was during the first swap
[ $(($(now_ms) - start)) -lt 9000 ] || fail "the looks took too long"
[ "$(status 1 waiters)" -gt 0 ] || [ "$(status 2 waiters)" -gt 0 ] ||
	fail "nothing was waiting"
for p in "${pids[@]}"; do
	kill "$p"
done
