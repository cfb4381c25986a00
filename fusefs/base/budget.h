/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bound on memory that many requests keep at a time. */
#ifndef K80FS_BUDGET_H
#define K80FS_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct budget - bytes that may be kept, and those that are
 * @max: immutable once it is used
 */
struct budget {
	uint64_t max;
	_Atomic uint64_t used;
};

/**
 * budget_take() - before memory is taken; budget_give() must follow
 * Return: false, with nothing taken, if it would be more than @max.
 */
static inline bool budget_take(struct budget *b, uint64_t bytes)
{
	if (atomic_fetch_add(&b->used, bytes) + bytes <= b->max)
		return true;
	atomic_fetch_sub(&b->used, bytes);
	return false;
}

/** budget_give() - the memory was freed */
static inline void budget_give(struct budget *b, uint64_t bytes)
{
	atomic_fetch_sub(&b->used, bytes);
}

#endif /* K80FS_BUDGET_H */
