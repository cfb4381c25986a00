/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streaming copies for x86-64, compiled for their instruction set one function
 * at a time so that the program still starts on a CPU that lacks it.
 */
#ifdef __x86_64__

#include "copy/copy.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

/*
 * A write-combining buffer and a streaming load buffer hold one such line.
 * Source: Intel SDM volume 1, 12.10.3 (streaming load hint).
 */
#define LINE 64

/*
 * On ordinary memory, write at least this much by streaming stores: they save
 * reading the old line, but wait for the last one to drain. Measured on Zen 5,
 * streaming / memcpy in random blocks: 2 KiB 1.4, 4 KiB 1.4-1.8, 16 KiB 1.8;
 * in sequence: 2 KiB 0.5, 4 KiB 0.8, 16 KiB 0.9, 1 MiB 1.0; on Sapphire
 * Rapids 1 MiB in sequence 2.4.
 */
#define STREAM_MIN (4 * KIB)

#define TARGET(isa) __attribute__((target(isa)))

bool copy_has_sse41(void)
{
	return __builtin_cpu_supports("sse4.1");
}

bool copy_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

/* bytes before the first line boundary at or after @dev, at most @len */
static size_t head_len(const void *dev, size_t len)
{
	size_t head = -(uintptr_t)dev & (LINE - 1);

	return MIN(head, len);
}

/*
 * A line that an earlier streaming load left in its buffer may be stale; the
 * fence drops it. Source: Intel SDM volume 2, MOVNTDQA.
 */
TARGET("sse4.1")
void copy_sse41_from_dev(void *dst, const void *src, size_t len)
{
	size_t head = head_len(src, len);
	const uint8_t *s = (const uint8_t *)src + head;
	uint8_t *d = (uint8_t *)dst + head;
	__m128i v0, v1, v2, v3;

	_mm_mfence();
	copy_words_from_dev(dst, src, head);
	for (len -= head; len >= LINE; len -= LINE, s += LINE, d += LINE) {
		v0 = _mm_stream_load_si128((__m128i *)s);
		v1 = _mm_stream_load_si128((__m128i *)(s + 16));
		v2 = _mm_stream_load_si128((__m128i *)(s + 32));
		v3 = _mm_stream_load_si128((__m128i *)(s + 48));
		_mm_storeu_si128((__m128i *)d, v0);
		_mm_storeu_si128((__m128i *)(d + 16), v1);
		_mm_storeu_si128((__m128i *)(d + 32), v2);
		_mm_storeu_si128((__m128i *)(d + 48), v3);
	}
	copy_words_from_dev(d, s, len);
}

TARGET("avx2")
void copy_avx2_from_dev(void *dst, const void *src, size_t len)
{
	size_t head = head_len(src, len);
	const uint8_t *s = (const uint8_t *)src + head;
	uint8_t *d = (uint8_t *)dst + head;
	__m256i v0, v1;

	_mm_mfence();
	copy_words_from_dev(dst, src, head);
	for (len -= head; len >= LINE; len -= LINE, s += LINE, d += LINE) {
		v0 = _mm256_stream_load_si256((__m256i *)s);
		v1 = _mm256_stream_load_si256((__m256i *)(s + 32));
		_mm256_storeu_si256((__m256i *)d, v0);
		_mm256_storeu_si256((__m256i *)(d + 32), v1);
	}
	copy_words_from_dev(d, s, len);
}

void copy_sse2_to_dev(void *dst, const void *src, size_t len)
{
	size_t head = head_len(dst, len);
	const uint8_t *s = (const uint8_t *)src + head;
	uint8_t *d = (uint8_t *)dst + head;
	__m128i v0, v1, v2, v3;

	copy_words_to_dev(dst, src, head);
	for (len -= head; len >= LINE; len -= LINE, s += LINE, d += LINE) {
		v0 = _mm_loadu_si128((const __m128i *)s);
		v1 = _mm_loadu_si128((const __m128i *)(s + 16));
		v2 = _mm_loadu_si128((const __m128i *)(s + 32));
		v3 = _mm_loadu_si128((const __m128i *)(s + 48));
		_mm_stream_si128((__m128i *)d, v0);
		_mm_stream_si128((__m128i *)(d + 16), v1);
		_mm_stream_si128((__m128i *)(d + 32), v2);
		_mm_stream_si128((__m128i *)(d + 48), v3);
	}
	copy_words_to_dev(d, s, len);
	_mm_sfence();
}

void copy_sse2_zero(void *dst, size_t len)
{
	size_t head = head_len(dst, len);
	uint8_t *d = (uint8_t *)dst + head;
	__m128i zero = _mm_setzero_si128();

	copy_words_zero(dst, head);
	for (len -= head; len >= LINE; len -= LINE, d += LINE) {
		_mm_stream_si128((__m128i *)d, zero);
		_mm_stream_si128((__m128i *)(d + 16), zero);
		_mm_stream_si128((__m128i *)(d + 32), zero);
		_mm_stream_si128((__m128i *)(d + 48), zero);
	}
	copy_words_zero(d, len);
	_mm_sfence();
}

TARGET("avx2")
void copy_avx2_to_dev(void *dst, const void *src, size_t len)
{
	size_t head = head_len(dst, len);
	const uint8_t *s = (const uint8_t *)src + head;
	uint8_t *d = (uint8_t *)dst + head;
	__m256i v0, v1;

	copy_words_to_dev(dst, src, head);
	for (len -= head; len >= LINE; len -= LINE, s += LINE, d += LINE) {
		v0 = _mm256_loadu_si256((const __m256i *)s);
		v1 = _mm256_loadu_si256((const __m256i *)(s + 32));
		_mm256_stream_si256((__m256i *)d, v0);
		_mm256_stream_si256((__m256i *)(d + 32), v1);
	}
	copy_words_to_dev(d, s, len);
	_mm_sfence();
}

TARGET("avx2")
void copy_avx2_zero(void *dst, size_t len)
{
	size_t head = head_len(dst, len);
	uint8_t *d = (uint8_t *)dst + head;
	__m256i zero = _mm256_setzero_si256();

	copy_words_zero(dst, head);
	for (len -= head; len >= LINE; len -= LINE, d += LINE) {
		_mm256_stream_si256((__m256i *)d, zero);
		_mm256_stream_si256((__m256i *)(d + 32), zero);
	}
	copy_words_zero(d, len);
	_mm_sfence();
}

void copy_wb_avx2_to_dev(void *dst, const void *src, size_t len)
{
	if (len < STREAM_MIN)
		memcpy(dst, src, len);
	else
		copy_avx2_to_dev(dst, src, len);
}

void copy_wb_avx2_zero(void *dst, size_t len)
{
	if (len < STREAM_MIN)
		memset(dst, 0, len);
	else
		copy_avx2_zero(dst, len);
}

void copy_x86_fence(void)
{
	_mm_sfence();
}

#else
/* ISO C wants a declaration in every file */
typedef int copy_x86_unused;
#endif
