/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which part of an address space is whose: extents, each a power of two long
 * and aligned to its length. Pure, but for malloc.
 */
#ifndef K80FS_MEM_EXTENT_H
#define K80FS_MEM_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct extent - a part of the space, in the order of addresses
 * @off, @len: bytes; of a used one @len is a power of two that divides @off
 */
struct extent {
	struct extent *prev, *next;
	uint64_t off, len;
	bool is_used;
};

/** struct extents - a whole space; its user's lock is around every call */
struct extents {
	struct extent *first;
};

/**
 * extents_init() - all of [@from, @to) is free
 * Return: 0; -ENOMEM.
 */
int extents_init(struct extents *all, uint64_t from, uint64_t to);

/** extents_free() - with every extent of it */
void extents_free(struct extents *all);

/**
 * extent_take() - the smallest free part that has room
 * @len: a power of two
 * Return: 0; -ENOSPC; -ENOMEM.
 */
int extent_take(struct extents *all, uint64_t len, struct extent **out);

/** extent_give() - it is free; NULL does nothing. Cannot fail */
void extent_give(struct extent *e);

/** extent_len() - the power of two for @end bytes, at least @least */
uint64_t extent_len(uint64_t end, uint64_t least);

#endif /* K80FS_MEM_EXTENT_H */
