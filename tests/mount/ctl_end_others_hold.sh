#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whoever may write ctl may end another's hold; those who waited go on
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim wait=60000

for how in pin lease; do
	for end in "0 unpin" "0 release" "root release"; do
		exec 3>"$(die 0)/ctl"
		echo $how >&3
		pids=()
		for d in 1 2; do
			"$BIN/tool" "$(die $d)/vram" r pread,0,4096 &
			pids+=($!)
			"$BIN/tool" "$(die $d)/ctl" w "puts,acquire\n" &
			pids+=($!)
		done
		wait_waiters 1 2
		wait_waiters 2 2
		for p in "${pids[@]}"; do
			kill -0 "$p" || fail "$how: $p did not wait"
		done
		start=$(now_ms)
		# shellcheck disable=SC2086 # die and command
		ctl $end
		for p in "${pids[@]}"; do
			wait "$p"
		done
		soon_after "$start" "$how, $end: waking"
		expect_status 0 hold none
		exec 3>&-
	done
done
