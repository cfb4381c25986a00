#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that goes astray spoils its context, and often its process: EIO until
# the die is online again, and nobody else's business, nor that of memory
. "$(dirname "$0")/lib.sh"
# it may fail so soon that its launch says so
go_astray() {
	compute 0 launch k80_fill 1 32 u64:64 u32:1024 f32:1 2>"$W/log" || :
}

# round: die 0 goes astray beside die 1, and comes back
round() {
	compute 0 online
	compute 1 online
	compute 1 work 5 6
	printf '.version 4.1\n.target sm_37\n.address_size 64\n' |
		cat >"$M/die0/compute/module"
	go_astray
	expect_error "Input/output error" dd if="$M/die0/compute/out" \
		of="$W/out" bs=1M count=1
	expect_compute 0 state failed
	logged 0 "ILLEGAL_ADDRESS"
	grep -q ILLEGAL_ADDRESS < <(compute_status 0 last_error) ||
		fail "last_error: $(compute_status 0 last_error)"
	for w in sync verify "work 1 2" "launch k80_fill 1 1 out u32:1 f32:1"; do
		compute_errno 0 EIO "$w"
	done
	t "$M/die0/compute/out" r pread,0,10:EIO
	compute 1 verify
	expect_compute 1 verified PASS
	compute 0 online
	expect_compute 0 state idle
	expect_compute 0 module builtin
	expect_compute 0 last_error none
	t "$M/die0/compute/out" r same,0,4M,0
	compute 0 work 1 2
	compute 0 verify
	expect_compute 0 verified PASS
}

# beside memory that the daemon has of the same device
beside_memory() {
	K80FS_BACKEND=cuda DIES=1 mount_cuda compute
	random_file "$W/data" 1048576
	dd if="$W/data" of="$(die 0)/vram" conv=notrunc status=none
	compute 0 online
	go_astray
	compute_errno 0 EIO sync
	expect_compute 0 state failed
	cmp -n 1048576 "$W/data" "$(die 0)/vram"
	dd if="$W/data" of="$(die 0)/vram" bs=1M seek=1 conv=notrunc,fsync \
		status=none
	compute 0 online
	compute 0 work 1 2
	compute 0 verify
	expect_compute 0 verified PASS
	cmp -n 1048576 "$W/data" "$(die 0)/vram"
	expect_equal "$(status 0 alive)" 1 alive
	unmount
}

mount_compute
round
round
unmount
beside_memory
if [ "${K80_LIBCUDA:-}" != real ]; then
	# as some drivers do it: the whole process is refused
	export STANDIN_SPOILS=1
	mount_compute
	round
	unmount
	beside_memory
	K80FS_BACKEND=cuda DIES=2 mount_cuda compute
	random_file "$W/data" 1048576
	dd if="$W/data" of="$(die 1)/vram" conv=notrunc status=none
	round
	cmp -n 1048576 "$W/data" "$(die 1)/vram"
	unmount
	unset STANDIN_SPOILS
fi

# streams share a context: all of them are lost, and each comes back
MODE=streams mount_compute
for d in 0 1; do
	compute $d online
done
go_astray
compute_errno 0 EIO sync
compute 0 online
expect_compute 1 state failed
compute_errno 1 EIO "work 3 4"
compute 0 work 1 2
compute 0 verify
compute 1 online
compute 1 work 3 4
compute 1 verify
compute 0 verify
soon unmount
