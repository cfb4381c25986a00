/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/extent.h"

#include <errno.h>
#include <stdlib.h>

static struct extent *extent_new(uint64_t off, uint64_t len)
{
	struct extent *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->off = off;
	e->len = len;
	return e;
}

int extents_init(struct extents *all, uint64_t from, uint64_t to)
{
	all->first = extent_new(from, to - from);
	return all->first ? 0 : -ENOMEM;
}

void extents_free(struct extents *all)
{
	struct extent *next;

	for (struct extent *e = all->first; e; e = next) {
		next = e->next;
		free(e);
	}
	all->first = NULL;
}

uint64_t extent_len(uint64_t end, uint64_t least)
{
	while (least < end)
		least *= 2;
	return least;
}

static uint64_t gap_before(const struct extent *e, uint64_t len)
{
	return (len - e->off % len) % len;
}

static bool has_room(const struct extent *e, uint64_t len)
{
	uint64_t gap = gap_before(e, len);

	return !e->is_used && e->len >= gap && e->len - gap >= len;
}

static void link_behind(struct extent *e, struct extent *other)
{
	other->prev = e;
	other->next = e->next;
	if (e->next)
		e->next->prev = other;
	e->next = other;
}

int extent_take(struct extents *all, uint64_t len, struct extent **out)
{
	struct extent *best = NULL, *e, *rest = NULL;
	uint64_t gap, left;

	for (e = all->first; e; e = e->next)
		if (has_room(e, len) && (!best || e->len < best->len))
			best = e;
	if (!best)
		return -ENOSPC;
	gap = gap_before(best, len);
	left = best->len - gap - len;
	e = gap ? extent_new(best->off + gap, len) : best;
	if (left)
		rest = extent_new(best->off + gap + len, left);
	if (!e || (left && !rest)) {
		if (gap)
			free(e);
		free(rest);
		return -ENOMEM;
	}
	if (gap) {
		best->len = gap;
		link_behind(best, e);
	}
	e->len = len;
	e->is_used = true;
	if (rest)
		link_behind(e, rest);
	*out = e;
	return 0;
}

/* @e takes what is behind it. */
static void swallow_next(struct extent *e)
{
	struct extent *other = e->next;

	e->len += other->len;
	e->next = other->next;
	if (e->next)
		e->next->prev = e;
	free(other);
}

void extent_give(struct extent *e)
{
	if (!e)
		return;
	e->is_used = false;
	if (e->next && !e->next->is_used)
		swallow_next(e);
	if (e->prev && !e->prev->is_used)
		swallow_next(e->prev);
}
