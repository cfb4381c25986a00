#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Dies that are always in use io_uring without further ado; with compute, where
# requests wait for kernels, they stay on /dev/fuse
. "$(dirname "$0")/lib.sh"
need_sim "the stand-in for CUDA"

if uring_on; then
	want=io_uring
	said=
else
	want=/dev/fuse
	said=$WHY_NO_URING
fi
DIES=2 mount_cuda io_uring 2>"$W/said"
expect_said() {
	[ -z "$1" ] || grep -qF -- "$1" "$W/said" || fail "$(cat "$W/said")"
}
expect_said "$said"
expect_status root transport "$want"
random_file "$W/data" 5000000
dd if="$W/data" of="$(die 1)/vram" bs=1M conv=notrunc status=none
cmp "$W/data" <(head -c 5000000 "$(die 1)/vram")
cp "$(die 1)/vram" "$(die 0)/vram"
cmp "$(die 1)/vram" "$(die 0)/vram"
ctl 0 zero
cmp -n "$CAP" /dev/zero "$(die 0)/vram"
unmount

DIES=2 mount_cuda io_uring compute 2>"$W/said"
expect_said "${said:-compute}"
expect_status root transport /dev/fuse
