/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of files that kernels of a die work on: in its worker while they run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/priv.h"

/** struct owner_range - memory that the worker has mapped */
struct owner_range {
	struct owner_range *next;
	uint64_t key;
	uint8_t uuid[WIRE_UUID_LEN];
	unsigned int n;
	uint64_t ids[];
};

static bool is_same(const struct owner_range *r, const struct owner_memory *m)
{
	if (r->n != m->n || memcmp(r->uuid, m->uuid, sizeof(r->uuid)) != 0)
		return false;
	for (unsigned int i = 0; i < r->n; i++)
		if (r->ids[i] != m->chunks[i].id)
			return false;
	return true;
}

void owner_lose_ranges(struct owner_die *d)
{
	struct owner_range *r;

	while ((r = d->ranges)) {
		d->ranges = r->next;
		free(r);
	}
}

/* A batch of chunks from @at on; returns how many. */
static unsigned int fill(struct wire_map *map, int *fds,
			 const struct owner_memory *m, unsigned int at)
{
	map->n = MIN(m->n - at, (unsigned int)WIRE_MAX_CHUNKS);
	for (unsigned int i = 0; i < map->n; i++) {
		map->len[i] = m->chunks[at + i].len;
		fds[i] = m->chunks[at + i].fd;
	}
	return map->n;
}

/* In the window. */
static int give(struct owner *o, unsigned int die, const struct owner_memory *m,
		uint64_t key)
{
	struct wire_request req = { .op = WIRE_MAP, .map.key = key };
	struct wire_reply reply;
	int fds[WIRE_MAX_CHUNKS];
	unsigned int n;
	int ret = 0;

	memcpy(req.map.uuid, m->uuid, sizeof(req.map.uuid));
	for (unsigned int i = 0; i < m->n; i++)
		req.map.bytes += m->chunks[i].len;
	for (unsigned int at = 0; !ret && at < m->n; at += n) {
		n = fill(&req.map, fds, m, at);
		ret = owner_give(o, die, &req, fds, n, &reply);
	}
	return ret;
}

int owner_map(struct owner *o, unsigned int die, const struct owner_memory *m,
	      uint64_t *key)
{
	struct owner_die *d = &o->dies[die];
	struct owner_range *r;
	int ret = owner_check_online(d);

	if (ret)
		return ret;
	if (!m->n)
		return -EINVAL;
	for (r = d->ranges; r; r = r->next) {
		if (!is_same(r, m))
			continue;
		*key = r->key;
		return 0;
	}
	r = calloc(1, sizeof(*r) + m->n * sizeof(*r->ids));
	if (!r)
		return -ENOMEM;
	r->key = ++d->last_key;
	r->n = m->n;
	memcpy(r->uuid, m->uuid, sizeof(r->uuid));
	for (unsigned int i = 0; i < m->n; i++)
		r->ids[i] = m->chunks[i].id;
	ret = owner_enter(o, die);
	if (!ret) {
		ret = give(o, die, m, r->key);
		owner_leave(o, die);
	}
	if (ret) {
		free(r);
		return ret;
	}
	r->next = d->ranges;
	d->ranges = r;
	*key = r->key;
	return 0;
}

bool owner_has_ranges(struct owner *o, unsigned int die)
{
	return o->dies[die].ranges;
}

int owner_unmap(struct owner *o, unsigned int die)
{
	struct wire_request req = { .op = WIRE_UNMAP };
	struct owner_die *d = &o->dies[die];
	struct wire_reply reply;
	int ret = owner_poll(o, die);

	if (ret == -EAGAIN)
		return ret;
	if (!ret)
		ret = owner_enter(o, die);
	if (!ret) {
		ret = owner_call(o, die, &req, &reply);
		owner_leave(o, die);
	}
	/* what a worker has that cannot be asked goes with it */
	if (owner_state(d) == OWNER_FAILED)
		owner_part(o, die);
	owner_lose_ranges(d);
	return ret;
}

void owner_memory_free(struct owner_memory *m)
{
	for (unsigned int i = 0; i < m->n; i++)
		close(m->chunks[i].fd);
	free(m->chunks);
	memset(m, 0, sizeof(*m));
}
