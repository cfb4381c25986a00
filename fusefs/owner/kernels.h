/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels that are always loaded, as PTX text: version 4.1 is the oldest
 * that knows sm_37 (a K80), and every newer GPU compiles it too.
 *
 *	k80_add(in, out, u32 n, u32 iters, u64 delay)  out = in + iters
 *	k80_fill(out, u32 n, f32 value)                out = value
 *	k80_scale(in, out, u32 n, f32 factor)          out = in * factor
 *
 * Each works through n floats with any grid and block of one dimension.
 *
 * k80_add adds 1.0 iters times, so that the result is right only if the loop
 * has run. Before that every thread goes through a loop of delay steps, each of
 * which needs the result of the one before. Its result is stored if iters is
 * the largest number there is: otherwise the compiler would drop the loop.
 */
#ifndef OWNER_KERNELS_H
#define OWNER_KERNELS_H

/* thread number to %r4, number of threads to %r5; floats: one to %rd1 */
#define KERNEL_INDEX                        \
	"	mov.u32 %r1, %ctaid.x;\n"         \
	"	mov.u32 %r2, %ntid.x;\n"          \
	"	mov.u32 %r3, %tid.x;\n"           \
	"	mad.lo.u32 %r4, %r1, %r2, %r3;\n" \
	"	mov.u32 %r5, %nctaid.x;\n"        \
	"	mul.lo.u32 %r5, %r5, %r2;\n"

#define KERNEL_REGISTERS       \
	"	.reg .pred %p<4>;\n" \
	"	.reg .b32 %r<16>;\n" \
	"	.reg .b64 %rd<8>;\n" \
	"	.reg .f32 %f<4>;\n"

static const char kernels_ptx[] =
	".version 4.1\n"
	".target sm_37\n"
	".address_size 64\n"
	"\n"
	".visible .entry k80_add(\n"
	"	.param .u64 p_in,\n"
	"	.param .u64 p_out,\n"
	"	.param .u32 p_n,\n"
	"	.param .u32 p_iters,\n"
	"	.param .u64 p_delay)\n"
	"{\n" KERNEL_REGISTERS "	ld.param.u64 %rd1, [p_in];\n"
	"	ld.param.u64 %rd2, [p_out];\n"
	"	ld.param.u32 %r6, [p_n];\n"
	"	ld.param.u32 %r7, [p_iters];\n"
	"	ld.param.u64 %rd3, [p_delay];\n"
	"	cvta.to.global.u64 %rd1, %rd1;\n"
	"	cvta.to.global.u64 %rd2, %rd2;\n" KERNEL_INDEX
	"	mov.u32 %r8, %r4;\n"
	"DELAY:\n"
	"	setp.eq.u64 %p1, %rd3, 0;\n"
	"	@%p1 bra DELAYED;\n"
	"	mad.lo.u32 %r8, %r8, 1664525, 1013904223;\n"
	"	sub.u64 %rd3, %rd3, 1;\n"
	"	bra DELAY;\n"
	"DELAYED:\n"
	"	setp.ge.u32 %p1, %r4, %r6;\n"
	"	@%p1 bra END;\n"
	"	mul.wide.u32 %rd4, %r4, 4;\n"
	"	add.u64 %rd5, %rd1, %rd4;\n"
	"	add.u64 %rd6, %rd2, %rd4;\n"
	"	ld.global.f32 %f1, [%rd5];\n"
	"	setp.eq.u32 %p2, %r7, 4294967295;\n"
	"	@%p2 st.global.u32 [%rd6], %r8;\n"
	"	@%p2 bra END;\n"
	"	mov.u32 %r9, %r7;\n"
	"ADD:\n"
	"	setp.eq.u32 %p3, %r9, 0;\n"
	"	@%p3 bra STORE;\n"
	"	add.rn.f32 %f1, %f1, 0f3F800000;\n"
	"	sub.u32 %r9, %r9, 1;\n"
	"	bra ADD;\n"
	"STORE:\n"
	"	st.global.f32 [%rd6], %f1;\n"
	"	add.u32 %r4, %r4, %r5;\n"
	"	bra DELAYED;\n"
	"END:\n"
	"	ret;\n"
	"}\n"
	"\n"
	".visible .entry k80_fill(\n"
	"	.param .u64 p_out,\n"
	"	.param .u32 p_n,\n"
	"	.param .f32 p_value)\n"
	"{\n" KERNEL_REGISTERS "	ld.param.u64 %rd2, [p_out];\n"
	"	ld.param.u32 %r6, [p_n];\n"
	"	ld.param.f32 %f1, [p_value];\n"
	"	cvta.to.global.u64 %rd2, %rd2;\n" KERNEL_INDEX "NEXT:\n"
	"	setp.ge.u32 %p1, %r4, %r6;\n"
	"	@%p1 bra END;\n"
	"	mul.wide.u32 %rd4, %r4, 4;\n"
	"	add.u64 %rd6, %rd2, %rd4;\n"
	"	st.global.f32 [%rd6], %f1;\n"
	"	add.u32 %r4, %r4, %r5;\n"
	"	bra NEXT;\n"
	"END:\n"
	"	ret;\n"
	"}\n"
	"\n"
	".visible .entry k80_scale(\n"
	"	.param .u64 p_in,\n"
	"	.param .u64 p_out,\n"
	"	.param .u32 p_n,\n"
	"	.param .f32 p_factor)\n"
	"{\n" KERNEL_REGISTERS "	ld.param.u64 %rd1, [p_in];\n"
	"	ld.param.u64 %rd2, [p_out];\n"
	"	ld.param.u32 %r6, [p_n];\n"
	"	ld.param.f32 %f2, [p_factor];\n"
	"	cvta.to.global.u64 %rd1, %rd1;\n"
	"	cvta.to.global.u64 %rd2, %rd2;\n" KERNEL_INDEX "NEXT:\n"
	"	setp.ge.u32 %p1, %r4, %r6;\n"
	"	@%p1 bra END;\n"
	"	mul.wide.u32 %rd4, %r4, 4;\n"
	"	add.u64 %rd5, %rd1, %rd4;\n"
	"	add.u64 %rd6, %rd2, %rd4;\n"
	"	ld.global.f32 %f1, [%rd5];\n"
	"	mul.rn.f32 %f1, %f1, %f2;\n"
	"	st.global.f32 [%rd6], %f1;\n"
	"	add.u32 %r4, %r4, %r5;\n"
	"	bra NEXT;\n"
	"END:\n"
	"	ret;\n"
	"}\n";

#undef KERNEL_INDEX
#undef KERNEL_REGISTERS

#endif /* OWNER_KERNELS_H */
