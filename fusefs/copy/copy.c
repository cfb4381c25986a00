/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "copy/copy.h"

#include <stdint.h>
#include <string.h>

#include "base/util.h"

/* the widest access that every 64-bit CPU makes as one */
#define WORD_MAX 16

typedef uint16_t __attribute__((may_alias)) u16;
typedef uint32_t __attribute__((may_alias)) u32;
typedef uint64_t __attribute__((may_alias)) u64;
typedef uint64_t __attribute__((may_alias, vector_size(WORD_MAX))) u128;

/* widest naturally aligned access at @addr that stays inside @len bytes */
static size_t word_at(const volatile void *addr, size_t len)
{
	size_t size = WORD_MAX;

	while (size > len || ((uintptr_t)addr & (size - 1)))
		size >>= 1;
	return size;
}

/* one device access: volatile, so that it is neither split nor merged */
#define LOAD(type, dst, src)                                \
	do {                                                \
		type word_ = *(const volatile type *)(src); \
		memcpy(dst, &word_, sizeof(word_));         \
	} while (0)

#define STORE(type, dst, src)                       \
	do {                                        \
		type word_;                         \
		memcpy(&word_, src, sizeof(word_)); \
		*(volatile type *)(dst) = word_;    \
	} while (0)

void copy_words_from_dev(void *dst, const void *src, size_t len)
{
	const uint8_t *s = src;
	uint8_t *d = dst;
	size_t size;

	for (; len; len -= size, s += size, d += size) {
		size = word_at(s, len);
		switch (size) {
		case 16:
			LOAD(u128, d, s);
			break;
		case 8:
			LOAD(u64, d, s);
			break;
		case 4:
			LOAD(u32, d, s);
			break;
		case 2:
			LOAD(u16, d, s);
			break;
		default:
			LOAD(uint8_t, d, s);
		}
	}
}

void copy_words_to_dev(void *dst, const void *src, size_t len)
{
	const uint8_t *s = src;
	uint8_t *d = dst;
	size_t size;

	for (; len; len -= size, s += size, d += size) {
		size = word_at(d, len);
		switch (size) {
		case 16:
			STORE(u128, d, s);
			break;
		case 8:
			STORE(u64, d, s);
			break;
		case 4:
			STORE(u32, d, s);
			break;
		case 2:
			STORE(u16, d, s);
			break;
		default:
			STORE(uint8_t, d, s);
		}
	}
}

void copy_words_zero(void *dst, size_t len)
{
	static const uint8_t zeroes[WORD_MAX];
	uint8_t *d = dst;
	size_t size;

	for (; len; len -= size, d += size) {
		size = word_at(d, len);
		copy_words_to_dev(d, zeroes, size);
	}
}

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
