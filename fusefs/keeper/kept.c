/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/kept.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct keeper_chunk *)a)->id;
	uint64_t y = ((const struct keeper_chunk *)b)->id;

	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Where @uuid is, or would be. */
static size_t place_of(const struct kept *k, const char *uuid)
{
	size_t i = 0;

	while (i < k->n_pools && strcmp(k->pools[i]->uuid, uuid) < 0)
		i++;
	return i;
}

struct kept_pool *kept_find(const struct kept *k, const char *uuid)
{
	size_t i = place_of(k, uuid);

	return i < k->n_pools && !strcmp(k->pools[i]->uuid, uuid) ? k->pools[i]
								  : NULL;
}

size_t kept_fds(const struct kept *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n_pools; i++)
		n += k->pools[i]->n + 2; /* a table and an anchor */
	return n;
}

uint64_t kept_bytes(const struct kept_pool *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->chunks[i].len;
	return n;
}

void kept_replace(int *slot, int fd)
{
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

static void remove_pool(struct kept *k, struct kept_pool *p)
{
	size_t i = place_of(k, p->uuid);

	memmove(&k->pools[i], &k->pools[i + 1],
		(--k->n_pools - i) * sizeof(*k->pools));
	free(p->chunks);
	free(p);
}

static struct kept_pool *add_pool(struct kept *k, const char *uuid)
{
	struct kept_pool *p = calloc(1, sizeof(*p));
	size_t i = place_of(k, uuid);

	if (!p)
		return NULL;
	memcpy(p->uuid, uuid, sizeof(p->uuid));
	p->table = -1;
	p->anchor = -1;
	memmove(&k->pools[i + 1], &k->pools[i],
		(k->n_pools++ - i) * sizeof(*k->pools));
	k->pools[i] = p;
	return p;
}

int kept_claim(struct kept *k, const char *uuid, const void *who, pid_t pid)
{
	struct kept_pool *p = kept_find(k, uuid);

	if (p && p->holder && p->holder != who)
		return -EBUSY;
	if (!p && k->n_pools == KEPT_MAX_POOLS)
		return -ENOSPC;
	if (!p)
		p = add_pool(k, uuid);
	if (!p)
		return -ENOMEM;
	p->holder = who;
	p->holder_pid = pid;
	return 0;
}

/* The device of a pool without memory can be taken away; names of files
 * without memory stay. */
static void settle(struct kept *k, struct kept_pool *p)
{
	if (p->holder || p->n)
		return;
	kept_replace(&p->anchor, -1);
	if (p->table < 0)
		remove_pool(k, p);
}

void kept_leave(struct kept *k, const void *who)
{
	/* from the end: one that goes moves those behind it */
	for (size_t i = k->n_pools; i--;) {
		struct kept_pool *p = k->pools[i];

		if (p->holder != who)
			continue;
		p->holder = NULL;
		p->holder_pid = 0;
		settle(k, p);
	}
}

size_t kept_above(const struct kept_pool *p, uint64_t id)
{
	size_t from = 0, to = p->n;

	while (from < to) {
		size_t mid = (from + to) / 2;

		if (p->chunks[mid].id > id)
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

static bool has(const struct kept_pool *p, uint64_t id)
{
	size_t i = kept_above(p, id);

	return i && p->chunks[i - 1].id == id;
}

int kept_put(struct kept_pool *p, struct keeper_chunk *chunks, size_t n)
{
	struct keeper_chunk *all;
	size_t old = p->n, at = p->n + n;

	qsort(chunks, n, sizeof(*chunks), by_id);
	for (size_t i = 0; i < n; i++)
		if (has(p, chunks[i].id) ||
		    (i && chunks[i].id == chunks[i - 1].id))
			return -EEXIST;
	all = realloc(p->chunks, (p->n + n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	p->chunks = all;
	p->n += n;
	/* from the end, so that none is written over */
	while (n)
		all[--at] = old && all[old - 1].id > chunks[n - 1].id
				    ? all[--old]
				    : chunks[--n];
	return 0;
}

int kept_drop(struct kept_pool *p, uint64_t *ids, size_t n)
{
	size_t left = 0, next = 0;

	qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; i < n; i++)
		if (!has(p, ids[i]) || (i && ids[i] == ids[i - 1]))
			return -ENOENT;
	for (size_t i = 0; i < p->n; i++) {
		if (next < n && p->chunks[i].id == ids[next]) {
			close(p->chunks[i].fd);
			next++;
		} else {
			p->chunks[left++] = p->chunks[i];
		}
	}
	p->n = left;
	return 0;
}

void kept_free(struct kept *k, struct kept_pool *p)
{
	for (size_t i = 0; i < p->n; i++)
		close(p->chunks[i].fd);
	p->n = 0;
	kept_replace(&p->table, -1);
	settle(k, p);
}
