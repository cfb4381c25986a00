/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/work.h"

/* lowbias32, a hash of 32 bits by C. Wellons (public domain) */
static uint32_t hash(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x7feb352dU;
	x = (x ^ (x >> 15)) * 0x846ca68bU;
	return x ^ (x >> 16);
}

static float value(size_t i, uint32_t seed)
{
	return (float)(hash((uint32_t)i ^ hash(seed)) % WORK_MAX_VALUE);
}

void work_fill(float *in, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++)
		in[i] = value(i, seed);
}

size_t work_count_wrong(const float *out, size_t n, uint32_t seed,
			uint32_t iters, size_t *first)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n; i++) {
		if (out[i] == value(i, seed) + (float)iters)
			continue;
		if (!n_wrong++)
			*first = i;
	}
	return n_wrong;
}
