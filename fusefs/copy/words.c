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
