// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timing - what an acquire costs, and copies on the mapping and in RAM
 *
 * Prints "NAME VALUE UNIT" lines; the job reads them.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libbs.h"

#define SWAPS  50
#define NO_OPS 200
#define BYTES  (64ul << 20)
#define ROUNDS 3

/* the best of a few, for other machines' work disturbs */
static int64_t copy_us(void *dst, const void *src)
{
	int64_t best = INT64_MAX, t;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		t = now_us();
		memcpy(dst, src, BYTES);
		t = now_us() - t;
		if (t < best)
			best = t;
	}
	return best;
}

int main(void)
{
	int fd = bs_open(), i;
	struct bs_die_info info;
	uint8_t *a = malloc(BYTES), *b = malloc(BYTES);
	volatile void *vram;
	int64_t t;

	if (!a || !b || bs_acquire(fd, 0, 0))
		errx(2, "acquire");
	t = now_us();
	for (i = 0; i < SWAPS; i++)
		if (bs_acquire(fd, i % 2 ? 0 : 3, 0))
			errx(2, "swap %d", i);
	printf("swap %lld us\n", (long long)(now_us() - t) / SWAPS);
	bs_info(fd, 0, &info);
	printf("last_swap %llu us\n",
	       (unsigned long long)info.last_swap_ns / 1000);
	bs_acquire(fd, 0, 0);
	t = now_us();
	for (i = 0; i < NO_OPS; i++)
		if (bs_acquire(fd, 0, 0))
			errx(2, "no-op");
	printf("no-op %lld us\n", (long long)(now_us() - t) / NO_OPS);
	vram = bs_map(fd, 0, 0, BYTES);
	if (!vram)
		err(2, "mmap");
	memset(a, 1, BYTES);
	memset(b, 2, BYTES);
	printf("to-vram %lld us\n", (long long)copy_us((void *)vram, a));
	printf("from-vram %lld us\n", (long long)copy_us(b, (void *)vram));
	printf("ram-to-ram %lld us\n", (long long)copy_us(b, a));
	return 0;
}
