#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# zero of a die shows its progress in status and ends on a signal
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
VRAM=12G mount_sim timeslice=20
v=$(die 0)/vram

readers=()
expect_status 0 progress none
if [ "$K80FS_BACKEND" = sim ]; then
	for ((i = 0; i < 12; i++)); do
		t "$v" rw "fill,$((i << 30)),64M,1"
	done
	# another die's users make it give up the slot in between
	sim swap_us 200000
	for i in 1 2; do
		while t "$(die 1)/vram" r+direct pread,0,4096; do
			:
		done 2>"$W/log$i" &
		readers+=($!)
	done
fi
"$BIN/tool" "$(die 0)/ctl" w alarm,5000 "puts,zero\n:EINTR" 2>"$W/zero.err" &
pid=$!
seen=
while kill -0 $pid 2>"$W/log" && [ -z "$seen" ]; do
	p=$(status 0 progress)
	[ "$p" = none ] || seen=$p
done
echo "progress seen: '$seen'; $(cat "$W/zero.err")"
[ -n "$seen" ] || fail "zero showed no progress"
wait $pid || grep -q "wanted EINTR, got 5" "$W/zero.err" ||
	fail "zero neither ended well nor was interrupted"
expect_status 0 progress none
for p in "${readers[@]}"; do
	kill "$p"
done
