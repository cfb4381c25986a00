/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of bytes: ranges in order that do not touch. Pure. */
#ifndef K80FS_RANGES_H
#define K80FS_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* [@start, @end) */
struct range {
	uint64_t start;
	uint64_t end;
};

/** struct ranges - starts zeroed; ranges_free() */
struct ranges {
	struct range *list;
	unsigned int n;
	unsigned int room;
};

/** ranges_reserve() - the next @more ranges_add() need no memory; or -ENOMEM */
int ranges_reserve(struct ranges *r, unsigned int more);

/** ranges_add() - [@start, @end); ranges_reserve() comes first */
void ranges_add(struct ranges *r, uint64_t start, uint64_t end);

/** ranges_cut() - take out all from @at on */
void ranges_cut(struct ranges *r, uint64_t at);

/**
 * ranges_gap() - the first bytes of [@start, @end) that are not in the set
 * @gap: out: up to the next byte that is, or @end
 */
bool ranges_gap(const struct ranges *r, uint64_t start, uint64_t end,
		struct range *gap);

void ranges_free(struct ranges *r);

#endif /* K80FS_RANGES_H */
