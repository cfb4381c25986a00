#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The text is a snapshot of the open; a read at offset 0 takes a new one
. "$(dirname "$0")/lib.sh"
need_slot "dies that take turns, or are held"
mount_sim
s=$(die 0)/status

text() {
	t fd:5 - gets,0,4096
}
exec 5<"$s"
ctl 0 acquire
# rendered at open: the first state, read in pieces not from 0
t fd:5 - gets,1,4096 >"$W/rest"
grep -q "^state idle" "$W/rest" || fail "the snapshot changed: $(cat "$W/rest")"
text >"$W/new"
grep -q "^state active" "$W/new" || fail "offset 0 gave an old text"
ctl 0 release
t fd:5 - gets,1,4096 >"$W/rest"
expect_equal "$(cat "$W/rest")" "$(tail -c +2 "$W/new")" "rest of a snapshot"
exec 5<&-

# dd bs=1 gives one consistent text although things change meanwhile
ctl 0 acquire
for ((i = 0; i < 300; i++)); do
	ctl $((i % 2)) acquire
done &
for d in "dd bs=1" "dd bs=7" "busybox dd bs=1"; do
	for i in 1 2 3; do
		$d if="$s" of="$W/text" 2>"$W/log"
		expect_equal "$(head -1 "$W/text")" "die 0" "$d: first line"
		expect_equal "$(tail -1 "$W/text" | cut -d' ' -f1)" last_error "$d"
		expect_equal "$(tail -c 1 "$W/text" | xxd -p)" 0a "$d: last byte"
		expect_equal "$(grep -c . "$W/text")" "$(grep -c . "$s")" "$d: lines"
	done
done
wait
