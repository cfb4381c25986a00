/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 8

/* The first range that ends at @at or behind it. */
static unsigned int find(const struct ranges *r, uint64_t at)
{
	unsigned int low = 0, high = r->n;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (r->list[mid].end < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int ranges_reserve(struct ranges *r, unsigned int more)
{
	unsigned int room = r->room ? r->room : FIRST_ROOM;
	struct range *list;

	while (room < r->n + more)
		room *= 2;
	if (room == r->room)
		return 0;
	list = realloc(r->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	r->list = list;
	r->room = room;
	return 0;
}

void ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	unsigned int first = find(r, start), next = first;

	if (start >= end)
		return;
	/* all that it touches become one */
	while (next < r->n && r->list[next].start <= end)
		next++;
	if (next > first) {
		if (r->list[first].start < start)
			start = r->list[first].start;
		if (r->list[next - 1].end > end)
			end = r->list[next - 1].end;
	}
	memmove(r->list + first + 1, r->list + next,
		(r->n - next) * sizeof(*r->list));
	r->list[first] = (struct range){ start, end };
	r->n = r->n - (next - first) + 1;
}

void ranges_cut(struct ranges *r, uint64_t at)
{
	while (r->n && r->list[r->n - 1].start >= at)
		r->n--;
	if (r->n && r->list[r->n - 1].end > at)
		r->list[r->n - 1].end = at;
}

bool ranges_gap(const struct ranges *r, uint64_t start, uint64_t end,
		struct range *gap)
{
	unsigned int i = find(r, start);

	while (i < r->n && r->list[i].start <= start) {
		if (r->list[i].end > start)
			start = r->list[i].end;
		i++;
	}
	if (start >= end)
		return false;
	gap->start = start;
	gap->end = i < r->n && r->list[i].start < end ? r->list[i].start : end;
	return true;
}

void ranges_free(struct ranges *r)
{
	free(r->list);
	r->list = NULL;
	r->n = r->room = 0;
}
