/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job whose result can be checked: out = in + iters over numbers that a
 * seed fixes. Pure.
 */
#ifndef OWNER_WORK_H
#define OWNER_WORK_H

#include <stddef.h>
#include <stdint.h>

/* up to 2^24 every integer is a float, so sums are exact */
#define WORK_MAX_VALUE (1u << 20)
#define WORK_MAX_ITERS ((1u << 24) - WORK_MAX_VALUE)

/** work_fill() - @n integers below WORK_MAX_VALUE, made from the seed */
void work_fill(float *in, size_t n, uint32_t seed);

/**
 * work_count_wrong() - compare a result with what it must be
 * @first: out: index of the first wrong one, if there is one
 * Return: how many are wrong.
 */
size_t work_count_wrong(const float *out, size_t n, uint32_t seed,
			uint32_t iters, size_t *first);

#endif /* OWNER_WORK_H */
