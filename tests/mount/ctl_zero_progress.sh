#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# zero of a die shows its progress in status and ends on a signal
# alone
. "$(dirname "$0")/lib.sh"
VRAM=12G mount_sim timeslice=20
v=$(die 0)/vram

expect_status 0 progress none
if [ "$K80FS_BACKEND" = sim ]; then
	for ((i = 0; i < 12; i++)); do
		t "$v" rw "fill,$((i << 30)),64M,1"
	done
	# other dies' users make it give up the slot in between
	sim swap_us 50000
	for ((i = 0; i < 100; i++)); do
		head -c 1 "$(die 1)/vram" >"$W/log"
	done &
fi
"$BIN/tool" "$(die 0)/ctl" w alarm,1500 "puts,zero\n:EINTR" 2>"$W/zero.err" &
pid=$!
seen=
for ((i = 0; i < 60; i++)); do
	p=$(status 0 progress)
	[ "$p" = none ] || seen=$p
	kill -0 $pid 2>"$W/log" || break
	sleep 0.02
done
echo "progress seen: '$seen'; $(cat "$W/zero.err")"
[ -n "$seen" ] || fail "zero showed no progress"
wait $pid || grep -q "wanted EINTR, got 5" "$W/zero.err" ||
	fail "zero neither ended well nor was interrupted"
wait
expect_status 0 progress none
