#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that goes astray spoils its context: EIO until the die is online
# again. Real drivers then refuse the whole process; a new mount works
. "$(dirname "$0")/lib.sh"
# it may fail so soon that its launch says so
go_astray() {
	compute 0 launch k80_fill 1 32 u64:64 u32:1024 f32:1 2>"$W/log" || :
}
mount_compute
c=$M/die0/compute
compute 0 online
compute 1 online
compute 1 work 5 6
printf '.version 4.1\n.target sm_37\n.address_size 64\n' | cat >"$c/module"
go_astray
expect_error "Input/output error" dd if="$c/out" of="$W/out" bs=1M count=1
expect_compute 0 state failed
logged 0 "ILLEGAL_ADDRESS"
grep -q ILLEGAL_ADDRESS < <(compute_status 0 last_error) ||
	fail "last_error: $(compute_status 0 last_error)"
for w in sync verify "work 1 2" "launch k80_fill 1 1 out u32:1 f32:1"; do
	compute_errno 0 EIO "$w"
done
if [ "${K80_LIBCUDA:-}" != real ]; then
	compute 1 verify
	expect_compute 1 verified PASS
	compute 0 online
	expect_compute 0 state idle
	expect_compute 0 module builtin
	expect_compute 0 last_error none
	t "$c/out" r same,0,4M,0
	compute 0 work 1 2
	compute 0 verify
	unmount

	# streams share a context: a new one is made for those that come
	MODE=streams mount_compute
	for d in 0 1; do
		compute $d online
	done
	go_astray
	compute_errno 0 EIO sync
	compute 0 online
	compute 0 work 1 2
	compute 0 verify
	compute 1 work 3 4
	compute 1 verify
	unmount

	# as real drivers do it
	export STANDIN_SPOILS=1
	MODE=contexts mount_compute
	compute 0 online
	compute 1 online
	go_astray
	compute_errno 0 EIO sync
fi
for d in 0 1 0; do
	compute_errno $d EIO "work 1 2"
	compute_errno $d EIO online
	compute_errno $d EIO "work 1 2"
	expect_compute $d state failed
	logged $d "start it again"
	t "$(die $d)/compute/out" r pread,0,10:EIO
done
compute_errno 2 EIO online
expect_compute 2 state offline
soon unmount
mount_compute
compute 0 online
compute 0 work 1 2
compute 0 verify
expect_compute 0 verified PASS
