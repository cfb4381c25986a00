/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readahead.h"

#include <string.h>
#include <sys/mman.h>

#include "pool.h"
#include "util.h"

/* one copy out of the die */
#define FILL_STEP ((size_t)1 << 20)

void readahead_init(struct readahead *ra)
{
	memset(ra, 0, sizeof(*ra));
	pthread_mutex_init(&ra->lock, NULL);
}

static void drop_buf(struct readahead *ra, struct readahead_pool *pool)
{
	if (!ra->buf)
		return;
	munmap(ra->buf, READAHEAD_LEN);
	ra->buf = NULL;
	ra->len = 0;
	atomic_fetch_sub(&pool->in_use, 1);
}

void readahead_free(struct readahead *ra, struct readahead_pool *pool)
{
	/* a read may just have been answered from the buffer */
	pthread_mutex_lock(&ra->lock);
	drop_buf(ra, pool);
	pthread_mutex_unlock(&ra->lock);
	pthread_mutex_destroy(&ra->lock);
}

void readahead_touch(struct readahead_pool *pool, unsigned int die)
{
	atomic_fetch_add(&pool->version[die], 1);
}

const void *readahead_get(struct readahead *ra, struct readahead_pool *pool,
			  unsigned int die, uint64_t off, size_t len,
			  uint64_t now)
{
	/* busy: it is being filled; the die is in, so read that */
	if (pthread_mutex_trylock(&ra->lock))
		return NULL;
	if (ra->len && (ra->version != atomic_load(&pool->version[die]) ||
			now - ra->filled_at > READAHEAD_MAX_NS))
		drop_buf(ra, pool);
	if (ra->len && off >= ra->start && len <= ra->len &&
	    off - ra->start <= ra->len - len) {
		ra->next = off + len;
		return ra->buf + (off - ra->start);
	}
	pthread_mutex_unlock(&ra->lock);
	return NULL;
}

void readahead_put(struct readahead *ra)
{
	pthread_mutex_unlock(&ra->lock);
}

bool readahead_note(struct readahead *ra, uint64_t off, size_t len,
		    bool was_parked)
{
	bool worth;

	if (pthread_mutex_trylock(&ra->lock))
		return false;
	if (was_parked && off == ra->next)
		ra->streak++;
	else
		ra->streak = 0;
	ra->next = off + len;
	worth = ra->streak >= 2;
	pthread_mutex_unlock(&ra->lock);
	return worth;
}

static bool take_buf(struct readahead *ra, struct readahead_pool *pool)
{
	if (ra->buf)
		return true;
	if (atomic_fetch_add(&pool->in_use, 1) < READAHEAD_MAX) {
		ra->buf = pool_map(READAHEAD_LEN);
		if (ra->buf)
			return true;
	}
	atomic_fetch_sub(&pool->in_use, 1);
	return false;
}

void readahead_fill(struct readahead *ra, struct readahead_pool *pool,
		    unsigned int die, uint64_t off, uint64_t limit,
		    readahead_fn fn, void *arg)
{
	uint64_t want = MIN(limit - off, (uint64_t)READAHEAD_LEN);

	if (pthread_mutex_trylock(&ra->lock))
		return;
	if (want && take_buf(ra, pool)) {
		ra->version = atomic_load(&pool->version[die]);
		ra->start = off;
		ra->len = 0;
		while (ra->len < want) {
			size_t n = MIN(want - ra->len, FILL_STEP);

			if (fn(arg, off + ra->len, ra->buf + ra->len, n))
				break;
			ra->len += n;
		}
		ra->filled_at = now_ns();
		if (ra->len < want)
			drop_buf(ra, pool);
	}
	pthread_mutex_unlock(&ra->lock);
}
