#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A parked write holds no lock: the next writer of that file can be killed
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000
v=$(die 0)/vram

ctl 1 pin
pids=()
for i in 1 2 3; do
	"$BIN/tool" "$v" rw "pwrite,$((i * 4096)),10,$i" &
	pids+=($!)
done
"$BIN/tool" "$v" r pread,0,10 &
pids+=($!)
wait_waiters 0 4
for p in "${pids[@]}"; do
	kill -0 "$p" || fail "process $p did not wait for die 0"
done
# before Linux 6.2 the kernel makes a dying writer's close wait for the other
# writers of the file: there they can only be killed together
at_once=
[ "$(printf '%s\n' 6.2 "$(uname -r)" | sort -V | head -n 1)" = 6.2 ] ||
	at_once=yes
start=$(now_ms)
[ -z "$at_once" ] || kill -9 "${pids[@]}"
for i in 2 1 3 0; do
	p=${pids[i]}
	[ -n "$at_once" ] || kill -9 "$p"
	wait "$p" && fail "a killed process ended well"
	soon_after "$start" "the end of process $p"
done
expect_status 1 hold pin
ctl 1 unpin
t "$v" rw pwrite,0,10,9 same,0,10,9
