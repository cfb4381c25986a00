#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 240
# Every entry point that the owner uses fails once, at each of its calls: the
# operation says so, nothing hangs or crashes, and the next try works
. "$(dirname "$0")/lib.sh"
need_sim "memory that needs no CUDA"
use_standin "STANDIN_ORDERS=$W/orders"
DIES=2 VRAM=64M mount_sim compute
c=$(die 0)/compute
printf '.version 4.1\n.target sm_37\n.address_size 64\n' >"$W/empty.ptx"

# order NAME N: the Nth next call of it fails with CUDA_ERROR_UNKNOWN
order() {
	echo "$1:$2:999" >"$W/orders.new"
	mv "$W/orders.new" "$W/orders"
}

# all that a user does; a command that fails ends it
session() {
	echo online >"$c/ctl" &&
		cp "$W/empty.ptx" "$c/module" &&
		dd if=/dev/zero of="$c/in" bs=1M count=1 status=none &&
		echo "work 1 2" >"$c/ctl" &&
		echo sync >"$c/ctl" &&
		echo verify >"$c/ctl" &&
		cp "$c/out" "$W/out"
}

# Whatever state the failure left: online again, if need be after a crash
recover() {
	local i
	# no orders any more
	: >"$W/orders.new"
	mv "$W/orders.new" "$W/orders"
	for i in 1 2 3; do
		session 2>"$W/log" && return
	done
	fail "after $1: $(cat "$W/log" "$c/log")"
}

# it may fail so soon that its launch says so
go_astray() {
	compute 0 launch k80_fill 1 32 u64:64 u32:1024 f32:1 2>"$W/log" || :
}

# A fresh context each time, so that its making is part of the session
spoil() {
	go_astray
	compute_errno 0 EIO sync
}

session
for call in cuDeviceGetCount cuDeviceGet cuCtxCreate_v2 \
	cuStreamCreate cuMemAlloc_v2 cuMemsetD8Async cuMemHostRegister_v2 \
	cuModuleLoadDataEx cuMemcpyHtoDAsync_v2 \
	cuModuleGetFunction cuLaunchKernel cuMemcpyDtoHAsync_v2; do
	for n in 1 2 3; do
		spoil
		order "$call" "$n"
		if session 2>"$W/log" && [ "$n" = 1 ]; then
			fail "$call failed and nobody said so"
		fi
		[ -e "$W/orders" ] && fail "$call was not called"
		[ "$n" != 1 ] || grep -q UNKNOWN "$c/log" ||
			fail "$call: the log is silent: $(cat "$c/log")"
		recover "$call:$n"
	done
done
for call in cuCtxSetCurrent cuStreamSynchronize; do
	spoil
	order $call 1
	if session 2>"$W/log"; then
		fail "$call failed and nobody said so"
	fi
	recover $call
done
# these are asked again, or are not needed for the result
for call in cuStreamQuery cuDeviceGetName cuCtxDestroy_v2 cuMemFree_v2 \
	cuMemHostUnregister cuStreamDestroy_v2 cuModuleUnload; do
	spoil
	order "$call" 1
	session 2>"$W/log" || recover "$call"
done
session
expect_compute 0 verified PASS
