#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A module of the user's, its kernels and the built-in ones; arguments must be
# those of the kernel
. "$(dirname "$0")/lib.sh"
need_cmd python3
mount_compute
c=$(die 0)/compute
cat >"$W/square.ptx" <<'PTX'
.version 4.1
.target sm_37
.address_size 64

// out = in * in
.visible .entry square(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	.reg .f32 %f;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1;
	@%p bra END;
	mul.wide.u32 %rd3, %r5, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	ld.global.f32 %f, [%rd4];
	mul.rn.f32 %f, %f, %f;
	st.global.f32 [%rd5], %f;
END:
	ret;
}
PTX
floats "$W/in" "i % 4000"
floats "$W/squares" "(i % 4000) ** 2"
floats "$W/thrice" "(i % 4000) * 3"
compute 0 online
cat "$W/in" >"$c/in"
compute_errno 0 ENOENT "launch square 4096 256 in out u32:1048576"
logged 0 "no kernel square"
cat "$W/square.ptx" >"$c/module"
expect_compute 0 module user
expect_compute 0 kernels "square k80_add k80_fill k80_scale"
cmp "$W/square.ptx" "$c/module"
compute 0 launch square 4096 256 in out u32:1048576
cmp "$W/squares" "$c/out"
compute 0 launch k80_scale 64 256 in out u32:1048576 f32:3
cmp "$W/thrice" "$c/out"
# two after each other in one stream: the second works on what the first made
compute 0 launch k80_fill 1 1024 in u32:1048576 f32:-2.5
compute 0 launch square 4096,1,1 256,1 in out i32:1048576
expect_equal "$(od -An -tf4 -N8 "$c/out" | tr -s ' ')" " 6.25 6.25"

for args in "in out" "in out u32:1 u32:1" "in out u64:1" "in out f32:1" \
	"u32:1 out u32:1" ""; do
	compute_errno 0 EINVAL "launch square 1 1 $args"
done
logged 0 "square takes 3 arguments, not 2"
logged 0 "argument 3 of square is 32-bit integer"
compute_errno 0 ENOENT "launch squar 1 1 in out u32:1"
# more threads than any GPU has in a block: it still works afterwards
expect_error "Invalid argument" dd of="$c/ctl" status=none \
	<<<"launch square 1 2048 in out u32:1"
expect_compute 0 state idle
compute 0 launch square 1 1 in out u32:1
# shared memory of its own, as much as a GPU gives without being told, and more
compute 0 launch square 1 1:49152 in out u32:1
compute 0 sync
expect_error "Invalid argument" dd of="$c/ctl" status=none \
	<<<"launch square 1 1:1048576000 in out u32:1"
compute 0 kernels
logged 0 "kernel square i64 i64 i32"
logged 0 "kernel k80_fill i64 i32 f32"
# no files with memory here
compute_errno 0 EOPNOTSUPP "launch square 1 1 mem:x out u32:1"
compute_errno 0 EOPNOTSUPP "launch square 1 1 in vram u32:1"
# an empty module is the user's too, and the built-in kernels stay
printf '.version 4.1\n.target sm_37\n.address_size 64\n' | cat >"$c/module"
expect_compute 0 kernels "k80_add k80_fill k80_scale"
compute_errno 0 ENOENT "launch square 1 1 in out u32:1"
