#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# io_uring is used where it can be had; where not, one line says why, the mount
# works over /dev/fuse, and status names the transport that is live
. "$(dirname "$0")/lib.sh"
need_sim "a backend with a slot"

"$K80FS" --version | grep -qxE 'transport /dev/fuse(, io_uring)?' ||
	fail "$("$K80FS" --version)"

# mount_saying TEXT OPTION...: one line on stderr with TEXT in it; nothing if ""
mount_saying() {
	local text=$1
	shift
	mount_sim "$@" 2>"$W/said"
	if [ -z "$text" ]; then
		expect_equal "$(cat "$W/said")" "" "stderr"
		return
	fi
	expect_equal "$(wc -l <"$W/said")" 1 "lines on stderr"
	grep -qF -- "$text" "$W/said" ||
		fail "wanted '$text', got: $(cat "$W/said")"
}

round_trip() {
	random_file "$W/data" 3000000
	dd if="$W/data" of="$(die 1)/vram" bs=1M conv=notrunc status=none
	cmp "$W/data" <(head -c 3000000 "$(die 1)/vram")
	cp "$(die 1)/vram" "$(die 2)/vram"
	cmp "$(die 1)/vram" "$(die 2)/vram"
	ctl 2 zero
	cmp -n "$CAP" /dev/zero "$(die 2)/vram"
}

# libfuse has a variable for it, which does not count
export FUSE_URING_ENABLE=1
mount_saying ""
expect_status root transport /dev/fuse
unmount
unset FUSE_URING_ENABLE

if uring_on; then
	mount_saying "take turns" io_uring
	expect_status root transport /dev/fuse
	round_trip
	unmount
	mount_saying "" io_uring io_uring_q_depth=8
	expect_status root transport io_uring
	round_trip
	unmount
	mount_saying "" io_uring cache io_uring_q_depth=4
	expect_status root transport io_uring
	round_trip
	unmount
	[ -n "$uring_was_off" ] || exit 0
	echo N >"$URING_SWITCH"
	WHY_NO_URING="off in the kernel"
fi
mount_saying "io_uring: " io_uring io_uring_q_depth=8
grep -qF -- "$WHY_NO_URING" "$W/said" ||
	fail "wanted '$WHY_NO_URING', got: $(cat "$W/said")"
grep -q 'using /dev/fuse$' "$W/said"
expect_status root transport /dev/fuse
round_trip
