/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that name their place: what a byte at an offset holds depends on the
 * whole 64-bit offset, so data that lands 4 GiB off, or on another die (other
 * seed), is seen.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64, Steele, Lea and Flood, OOPSLA 2014: a good 64-bit mixer */
static inline uint64_t pattern_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/**
 * pattern_fill() - the bytes of a stretch of a file
 * @buf:  out: @len bytes
 * @len:  bytes
 * @off:  where in the file they are
 * @seed: other seeds give other bytes
 */
static inline void pattern_fill(unsigned char *buf, size_t len, uint64_t off,
				uint64_t seed)
{
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < len; i++, off++) {
		if (i == 0 || off % 8 == 0)
			word = pattern_mix((off / 8) ^ (seed << 40));
		buf[i] = (unsigned char)(word >> (off % 8 * 8));
	}
}

#endif /* PATTERN_H */
