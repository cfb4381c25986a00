/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "copy/copy.h"

#include <string.h>

#include "base/util.h"

static void full_fence(void)
{
	__sync_synchronize();
}

/* plain stores to write-combined memory are no more ordered than others */
static void words_to_dev(void *dst, const void *src, size_t len)
{
	copy_words_to_dev(dst, src, len);
	full_fence();
}

static void words_zero(void *dst, size_t len)
{
	copy_words_zero(dst, len);
	full_fence();
}

static void libc_copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
}

static void libc_zero(void *dst, size_t len)
{
	memset(dst, 0, len);
}

static bool always(void)
{
	return true;
}

/*
 * AVX-512 is left out: on the CPUs tried, its loads and stores measured the
 * same as AVX2's within the noise.
 */
static const struct copy_variant variants[] = {
#ifdef __x86_64__
	{
		.mem = COPY_MEM_WC,
		.is_usable = copy_has_avx2,
		.ops = {
			.name = "wc-avx2",
			.read_name = "avx2 streaming loads",
			.write_name = "avx2 streaming stores",
			.from_dev = copy_avx2_from_dev,
			.to_dev = copy_avx2_to_dev,
			.zero = copy_avx2_zero,
			.fence = copy_x86_fence,
		},
	},
	{
		.mem = COPY_MEM_WC,
		.is_usable = copy_has_sse41,
		.ops = {
			.name = "wc-sse4.1",
			.read_name = "sse4.1 streaming loads",
			.write_name = "sse2 streaming stores",
			.from_dev = copy_sse41_from_dev,
			.to_dev = copy_sse2_to_dev,
			.zero = copy_sse2_zero,
			.fence = copy_x86_fence,
		},
	},
	{
		.mem = COPY_MEM_WC,
		.is_usable = always,
		.ops = {
			.name = "wc-sse2",
			.read_name = "words",
			.write_name = "sse2 streaming stores",
			.from_dev = copy_words_from_dev,
			.to_dev = copy_sse2_to_dev,
			.zero = copy_sse2_zero,
			.fence = copy_x86_fence,
		},
	},
#endif
	{
		.mem = COPY_MEM_WC,
		.is_usable = always,
		.ops = {
			.name = "wc-words",
			.read_name = "words",
			.write_name = "words",
			.from_dev = copy_words_from_dev,
			.to_dev = words_to_dev,
			.zero = words_zero,
			.fence = full_fence,
		},
	},
#ifdef __x86_64__
	{
		.mem = COPY_MEM_WB,
		.is_usable = copy_has_avx2,
		.ops = {
			.name = "wb-avx2",
			.read_name = "memcpy",
			.write_name = "memcpy, large by avx2 streaming stores",
			.from_dev = libc_copy,
			.to_dev = copy_wb_avx2_to_dev,
			.zero = copy_wb_avx2_zero,
			.fence = copy_x86_fence,
		},
	},
#endif
	{
		.mem = COPY_MEM_WB,
		.is_usable = always,
		.ops = {
			.name = "wb-libc",
			.read_name = "memcpy",
			.write_name = "memcpy",
			.from_dev = libc_copy,
			.to_dev = libc_copy,
			.zero = libc_zero,
			.fence = full_fence,
		},
	},
};

size_t copy_variants(const struct copy_variant **out)
{
	*out = variants;
	return ARRAY_SIZE(variants);
}

const struct copy_ops *copy_select(enum copy_mem mem)
{
	const struct copy_variant *v = variants;

	/* ends: each memory type has a row that is always usable */
	while (v->mem != mem || !v->is_usable())
		v++;
	return &v->ops;
}
