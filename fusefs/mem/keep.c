/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/keep.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"

#define PUT_MOST  KEEPER_BATCH
#define DROP_MOST 512u

/* The newest first. */
static void held_add_locked(struct mem_die *d, struct mem_chunk *c)
{
	c->prev = NULL;
	c->next = d->held;
	if (d->held)
		d->held->prev = c;
	d->held = c;
}

static void held_del_locked(struct mem_die *d, struct mem_chunk *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		d->held = c->next;
	if (c->next)
		c->next->prev = c->prev;
}

static int connect_locked(struct mem *m, char *why, size_t len)
{
	int ret = keeper_open(&m->keeper, m->keeper_path, true, why, len);

	if (ret)
		m->keeper = NULL;
	m->keeper_pid = ret ? 0 : keeper_pid(m->keeper);
	return ret;
}

int keep_open(struct mem *m, char *why, size_t len)
{
	int ret;

	pthread_mutex_lock(&m->keep_lock);
	ret = connect_locked(m, why, len);
	pthread_mutex_unlock(&m->keep_lock);
	return ret;
}

void keep_close(struct mem *m)
{
	pthread_mutex_lock(&m->keep_lock);
	keeper_close(m->keeper);
	m->keeper = NULL;
	m->keeper_pid = 0;
	pthread_mutex_unlock(&m->keep_lock);
}

int keep_fd(struct mem *m)
{
	int fd;

	pthread_mutex_lock(&m->keep_lock);
	fd = m->keeper ? keeper_fd(m->keeper) : -1;
	pthread_mutex_unlock(&m->keep_lock);
	return fd;
}

static struct keeper_chunk keeper_chunk_of(const struct mem_chunk *c)
{
	return (struct keeper_chunk){
		.id = c->id,
		.fd = c->chunk.fd,
		.len = c->chunk.len,
	};
}

/* A keeper that was only slow has them already. */
static int put_missing_locked(struct mem_die *d,
			      const struct keeper_chunk *chunks, unsigned int n)
{
	int ret = 0;

	for (unsigned int i = 0; i < n && (!ret || ret == -EEXIST); i++)
		ret = keeper_put(d->m->keeper, d->uuid, &chunks[i], 1);
	return ret == -EEXIST ? 0 : ret;
}

static int put_all_locked(struct mem_die *d)
{
	struct keeper_chunk part[PUT_MOST];
	unsigned int n = 0;
	int ret = 0;

	for (struct mem_chunk *c = d->held; c && !ret; c = c->next) {
		part[n++] = keeper_chunk_of(c);
		if (n < PUT_MOST && c->next)
			continue;
		ret = keeper_put(d->m->keeper, d->uuid, part, n);
		if (ret == -EEXIST)
			ret = put_missing_locked(d, part, n);
		n = 0;
	}
	return ret;
}

/* A new keeper has nothing yet. */
static int hand_over_locked(struct mem_die *d)
{
	struct keeper *k = d->m->keeper;
	pid_t holder;
	int ret;

	ret = keeper_claim(k, d->uuid, &holder);
	if (!ret)
		ret = keeper_set_table(k, d->uuid, d->table_fd);
	if (!ret && d->anchor >= 0)
		ret = keeper_anchor(k, d->uuid, d->anchor);
	return ret ? ret : put_all_locked(d);
}

static int again_locked(struct mem *m)
{
	pid_t old = m->keeper_pid;
	char why[256] = "";
	int ret;

	keeper_close(m->keeper);
	ret = connect_locked(m, why, sizeof(why));
	for (unsigned int die = 0; !ret && die < m->n_dies; die++)
		if (!*m->dies[die].why)
			ret = hand_over_locked(&m->dies[die]);
	if (!ret) {
		log_warn("mem: another k80-keeper holds the memory now: pid %d",
			 m->keeper_pid);
		return 0;
	}
	if (old)
		log_err("mem: k80-keeper (pid %d) is gone, and there is no other: %s: the memory goes with this daemon",
			old, *why ? why : strerror(-ret));
	keeper_close(m->keeper);
	m->keeper = NULL;
	m->keeper_pid = 0;
	return ret;
}

static bool is_alive_locked(struct mem *m)
{
	struct pollfd fd = { .fd = m->keeper ? keeper_fd(m->keeper) : -1 };

	return m->keeper && !poll(&fd, 1, 0);
}

int keep_again(struct mem *m)
{
	int ret = 0;

	pthread_mutex_lock(&m->keep_lock);
	/* somebody may have met it and done so already */
	if (!is_alive_locked(m))
		ret = again_locked(m);
	pthread_mutex_unlock(&m->keep_lock);
	return ret;
}

int keep_put(struct mem_die *d, struct mem_chunk *c)
{
	struct keeper_chunk one = keeper_chunk_of(c);
	struct mem *m = d->m;
	int ret = -EPIPE;

	pthread_mutex_lock(&m->keep_lock);
	if (m->keeper)
		ret = keeper_put(m->keeper, d->uuid, &one, 1);
	held_add_locked(d, c);
	if (ret == -EPIPE)
		ret = again_locked(m);
	if (ret)
		held_del_locked(d, c);
	pthread_mutex_unlock(&m->keep_lock);
	return ret == -ENFILE || ret == -ENOMEM || !ret ? ret : -EIO;
}

void keep_note(struct mem_die *d, struct mem_chunk *c)
{
	pthread_mutex_lock(&d->m->keep_lock);
	held_add_locked(d, c);
	pthread_mutex_unlock(&d->m->keep_lock);
}

static int drop_ids_locked(struct mem_die *d, struct mem_chunk *const *chunks,
			   unsigned int n)
{
	uint64_t ids[DROP_MOST];

	for (unsigned int i = 0; i < n; i++)
		ids[i] = chunks[i]->id;
	return keeper_drop(d->m->keeper, d->uuid, ids, n);
}

void keep_drop(struct mem_die *d, struct mem_chunk *const *chunks, unsigned int n)
{
	struct mem *m = d->m;
	int ret = 0;

	pthread_mutex_lock(&m->keep_lock);
	for (unsigned int i = 0; i < n; i++)
		held_del_locked(d, chunks[i]);
	for (unsigned int i = 0; m->keeper && !ret && i < n; i += DROP_MOST)
		ret = drop_ids_locked(d, chunks + i, MIN(n - i, DROP_MOST));
	/* a new one never gets them */
	if (ret == -EPIPE)
		again_locked(m);
	else if (ret)
		log_err("mem: k80-keeper does not let go of %u chunks: %s", n,
			strerror(-ret));
	pthread_mutex_unlock(&m->keep_lock);
}

void keep_forget(struct mem_die *d, struct mem_chunk *const *chunks,
		 unsigned int n)
{
	pthread_mutex_lock(&d->m->keep_lock);
	for (unsigned int i = 0; i < n; i++)
		held_del_locked(d, chunks[i]);
	pthread_mutex_unlock(&d->m->keep_lock);
}
