/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/readahead.h"

#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "engine/pool.h"

/* one copy out of the die */
#define FILL_STEP ((size_t)1 << 20)

void readahead_init(struct readahead *ra)
{
	memset(ra, 0, sizeof(*ra));
	pthread_mutex_init(&ra->lock, NULL);
	pthread_cond_init(&ra->unused, NULL);
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
	pthread_mutex_lock(&ra->lock);
	while (ra->is_filling || ra->lent)
		pthread_cond_wait(&ra->unused, &ra->lock);
	drop_buf(ra, pool);
	pthread_mutex_unlock(&ra->lock);
	pthread_cond_destroy(&ra->unused);
	pthread_mutex_destroy(&ra->lock);
}

void readahead_touch(struct readahead_pool *pool, unsigned int die)
{
	atomic_fetch_add(&pool->version[die], 1);
}

bool readahead_is_empty(struct readahead *ra)
{
	bool is_empty;

	pthread_mutex_lock(&ra->lock);
	is_empty = ra->is_filling || !ra->len;
	pthread_mutex_unlock(&ra->lock);
	return is_empty;
}

static bool is_old_locked(const struct readahead *ra, struct readahead_pool *pool,
			  unsigned int die, uint64_t now)
{
	uint64_t from = ra->filled_at;

	for (unsigned int other = 0; other < READAHEAD_DIES; other++)
		if (other != die && pool->filled_at[other] > from)
			from = pool->filled_at[other];
	return ra->version != atomic_load(&pool->version[die]) ||
	       now > ra->read_at + READAHEAD_MAX_NS ||
	       now > from + READAHEAD_KEEP_NS;
}

static const char *get_locked(struct readahead *ra, struct readahead_pool *pool,
			      unsigned int die, uint64_t off, size_t len,
			      uint64_t now)
{
	bool is_old;

	/* while it is being filled the die is in: read that */
	if (ra->is_filling || !ra->len)
		return NULL;
	is_old = is_old_locked(ra, pool, die, now);
	if (is_old && !ra->lent)
		drop_buf(ra, pool);
	if (is_old || off < ra->start || len > ra->len ||
	    off - ra->start > ra->len - len)
		return NULL;
	ra->next = off + len;
	ra->lent++;
	return ra->buf + (off - ra->start);
}

const void *readahead_get(struct readahead *ra, struct readahead_pool *pool,
			  unsigned int die, uint64_t off, size_t len,
			  uint64_t now)
{
	const char *data;

	pthread_mutex_lock(&ra->lock);
	data = get_locked(ra, pool, die, off, len, now);
	pthread_mutex_unlock(&ra->lock);
	return data;
}

void readahead_put(struct readahead *ra)
{
	pthread_mutex_lock(&ra->lock);
	if (!--ra->lent)
		pthread_cond_signal(&ra->unused);
	pthread_mutex_unlock(&ra->lock);
}

bool readahead_note(struct readahead *ra, uint64_t off, size_t len,
		    bool was_parked)
{
	bool worth = false;

	pthread_mutex_lock(&ra->lock);
	if (!ra->is_filling) {
		/* whoever reads that much in one turn alternates with nobody */
		if (off != ra->next || ra->passed > READAHEAD_LEN)
			ra->streak = 0;
		if (off != ra->next || was_parked)
			ra->passed = 0;
		if (!was_parked)
			ra->passed += len;
		else if (off == ra->next)
			ra->streak++;
		ra->next = off + len;
		worth = was_parked && ra->streak >= 2;
	}
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

/* Whether the caller may fill the buffer: it is there and nobody uses it. */
static bool begin_fill(struct readahead *ra, struct readahead_pool *pool)
{
	bool may;

	pthread_mutex_lock(&ra->lock);
	may = !ra->is_filling && !ra->lent && take_buf(ra, pool);
	if (may) {
		ra->is_filling = true;
		ra->len = 0;
	}
	pthread_mutex_unlock(&ra->lock);
	return may;
}

void readahead_fill(struct readahead *ra, struct readahead_pool *pool,
		    unsigned int die, uint64_t off, uint64_t limit,
		    readahead_fn fn, void *arg)
{
	uint64_t want = MIN(limit - off, (uint64_t)READAHEAD_LEN);
	uint64_t version, read_at, got = 0;

	if (!want || !begin_fill(ra, pool))
		return;
	version = atomic_load(&pool->version[die]);
	read_at = now_ns();
	while (got < want) {
		size_t n = MIN(want - got, FILL_STEP);

		if (fn(arg, off + got, ra->buf + got, n))
			break;
		got += n;
	}

	pthread_mutex_lock(&ra->lock);
	ra->version = version;
	ra->start = off;
	ra->len = got;
	ra->read_at = read_at;
	ra->filled_at = now_ns();
	atomic_store(&pool->filled_at[die], ra->filled_at);
	if (got < want)
		drop_buf(ra, pool);
	ra->is_filling = false;
	pthread_cond_signal(&ra->unused);
	pthread_mutex_unlock(&ra->lock);
}
