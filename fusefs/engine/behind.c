/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/behind.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/log.h"
#include "base/util.h"

#define MAX_TAKEN 16 /* after that many times it is an error */

static void on_turn(struct sched_req *req, int result);
static void flush(struct pool_work *work);

void behind_init(struct behind *b, struct backend *be, struct sched *sched,
		 struct pool *pool)
{
	pthread_condattr_t attr;

	memset(b, 0, sizeof(*b));
	b->be = be;
	b->sched = sched;
	b->pool = pool;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->quiet, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned int die = 0; die < BACKEND_MAX_DIES; die++) {
		struct behind_die *d = &b->dies[die];

		d->all = b;
		d->req.op = SCHED_FLUSH;
		d->req.die = (int)die;
		d->req.resume = on_turn;
		d->work.fn = flush;
	}
}

void behind_free(struct behind *b)
{
	for (unsigned int i = 0; i < b->n_free; i++)
		munmap(b->free[i], BEHIND_CHUNK);
	pthread_cond_destroy(&b->quiet);
	pthread_mutex_destroy(&b->lock);
}

/* Room for @len bytes more. */
static bool grow_locked(struct behind *b, struct behind_die *d, size_t len)
{
	while (d->n_chunks * BEHIND_CHUNK < d->len + len) {
		char *chunk = NULL;

		if (b->n_free) {
			chunk = b->free[--b->n_free];
		} else if (b->n_mapped < BEHIND_CHUNKS) {
			chunk = pool_map(BEHIND_CHUNK);
			b->n_mapped += chunk != NULL;
		}
		if (!chunk)
			return false;
		d->chunks[d->n_chunks++] = chunk;
	}
	return true;
}

static void empty_locked(struct behind *b, struct behind_die *d)
{
	while (d->n_chunks)
		b->free[b->n_free++] = d->chunks[--d->n_chunks];
	d->len = 0;
	d->taken = 0;
	d->state = BEHIND_EMPTY;
	pthread_cond_broadcast(&b->quiet);
}

/* The write follows the stream's last one, and the stream is worth it. */
static bool is_worth_locked(struct behind *b, struct behind_stream *stream,
			    unsigned int die, uint64_t off, size_t len, pid_t pid)
{
	bool is_sequential = off == stream->next;

	stream->waits = is_sequential ? stream->waits + 1 : 0;
	stream->next = off + len;
	if (!is_sequential)
		return false;
	return stream->waits > BEHIND_WAITS ||
	       sched_alternates(b->sched, pid, die);
}

/* The first write: before it is answered, the die waits for its turn. */
static bool open_locked(struct behind *b, struct behind_die *d,
			uint64_t generation, uint64_t off)
{
	struct bs_info info;

	/* what can be known to fail is said at once: a driver on any die keeps
	 * the slot */
	for (unsigned int die = 0; die < b->be->n_dies; die++)
		if (backend_info(b->be, die, &info) ||
		    (info.driver[0] && !b->be->with_driver))
			return false;
	if (b->be->dies[d->req.die].last_seen_errno ||
	    !sched_flush(b->sched, &d->req, SCHED_FLUSH_FIRST, 0))
		return false;
	d->state = BEHIND_OPEN;
	d->start = off;
	d->generation = generation;
	return true;
}

static void copy_in(struct behind_die *d, uint64_t at, const char *data,
		    size_t len)
{
	while (len) {
		size_t in_chunk = at % BEHIND_CHUNK;
		size_t n = MIN(len, BEHIND_CHUNK - in_chunk);

		memcpy(d->chunks[at / BEHIND_CHUNK] + in_chunk, data, n);
		at += n;
		data += n;
		len -= n;
	}
}

bool behind_write(struct behind *b, struct behind_stream *stream,
		  unsigned int die, uint64_t generation, uint64_t off,
		  const void *data, size_t len, pid_t pid)
{
	struct behind_die *d = &b->dies[die];
	bool may;
	uint64_t at = 0;

	pthread_mutex_lock(&b->lock);
	may = is_worth_locked(b, stream, die, off, len, pid) && !b->is_closed;
	if (may && d->state == BEHIND_EMPTY)
		may = open_locked(b, d, generation, off);
	else if (may)
		may = d->state == BEHIND_OPEN && d->start + d->len == off &&
		      d->generation == generation &&
		      !backend_condition(b->be, die) &&
		      !sched_is_kept_out(b->sched, die);
	may = may && grow_locked(b, d, len);
	if (may) {
		at = d->len;
		d->len += len;
		d->copying++;
	}
	pthread_mutex_unlock(&b->lock);
	if (!may)
		return false;

	copy_in(d, at, data, len);
	pthread_mutex_lock(&b->lock);
	if (!--d->copying)
		pthread_cond_broadcast(&b->quiet);
	pthread_mutex_unlock(&b->lock);
	return true;
}

void behind_passed(struct behind *b, struct behind_stream *stream, uint64_t off,
		   size_t len)
{
	pthread_mutex_lock(&b->lock);
	stream->waits = 0;
	stream->next = off + len;
	pthread_mutex_unlock(&b->lock);
}

bool behind_waits(struct behind *b, unsigned int die)
{
	bool waits;

	pthread_mutex_lock(&b->lock);
	waits = b->dies[die].state != BEHIND_EMPTY;
	pthread_mutex_unlock(&b->lock);
	return waits;
}

void behind_close(struct behind *b)
{
	pthread_mutex_lock(&b->lock);
	b->is_closed = true;
	for (unsigned int die = 0; die < BACKEND_MAX_DIES; die++)
		if (b->dies[die].state != BEHIND_EMPTY)
			sched_hurry(b->sched, die);
	pthread_mutex_unlock(&b->lock);
}

uint64_t behind_settle(struct behind *b, uint64_t patience_ns)
{
	uint64_t end = now_ns() + patience_ns, left = 0;
	struct timespec until = { .tv_sec = (time_t)(end / NSEC_PER_SEC),
				  .tv_nsec = (long)(end % NSEC_PER_SEC) };
	int ret = 0;

	pthread_mutex_lock(&b->lock);
	for (unsigned int die = 0; die < BACKEND_MAX_DIES; die++) {
		struct behind_die *d = &b->dies[die];

		while (d->state != BEHIND_EMPTY && !ret)
			ret = pthread_cond_timedwait(&b->quiet, &b->lock, &until);
		left += d->len;
	}
	pthread_mutex_unlock(&b->lock);
	return left;
}

/* Nobody adds anything any more; what was begun is finished. */
static void await_writers(struct behind *b, struct behind_die *d)
{
	pthread_mutex_lock(&b->lock);
	while (d->copying)
		pthread_cond_wait(&b->quiet, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

/* A reset takes what waited with it, as all the rest of the memory. */
static bool is_stale(struct behind *b, const struct behind_die *d)
{
	return d->generation !=
	       backend_generation(b->be, (unsigned int)d->req.die);
}

static void end(struct behind *b, struct behind_die *d, int result)
{
	unsigned int die = (unsigned int)d->req.die;

	if (result && !is_stale(b, d) && d->len) {
		log_err("die=%u %llu bytes at %llu that were written behind are lost: errno %d",
			die, (unsigned long long)d->len,
			(unsigned long long)d->start, -result);
		atomic_fetch_add(&b->be->dies[die].lost, 1);
	}
	pthread_mutex_lock(&b->lock);
	empty_locked(b, d);
	pthread_mutex_unlock(&b->lock);
}

static int write_all(struct behind *b, struct behind_die *d)
{
	unsigned int die = (unsigned int)d->req.die;
	int ret = 0;

	/* nothing more after a reset, also one that comes meanwhile */
	for (uint64_t at = 0; !ret && at < d->len && !is_stale(b, d);
	     at += BACKEND_MAX_CHUNK)
		ret = backend_write(b->be, die, d->start + at,
				    d->chunks[at / BEHIND_CHUNK] +
					    at % BEHIND_CHUNK,
				    MIN(d->len - at, BACKEND_MAX_CHUNK));
	return ret;
}

/* On a copy thread: the die is in and counted for us, or will not come in. */
static void flush(struct pool_work *work)
{
	struct behind_die *d = container_of(work, struct behind_die, work);
	struct behind *b = d->all;
	unsigned int die = (unsigned int)d->req.die;
	int ret = d->result;

	await_writers(b, d);
	if (ret) {
		end(b, d, ret);
		return;
	}
	ret = write_all(b, d);
	/* not for what passes: a look that fails ends the die's hold */
	if (ret == -EIO || ret == -EAGAIN)
		sched_suspect(b->sched, die);
	if (sched_is_passing(ret))
		sched_flush(b->sched, &d->req, SCHED_FLUSH_LATER, ret);
	else if (ret == -EAGAIN && d->taken++ < MAX_TAKEN)
		sched_flush(b->sched, &d->req, SCHED_FLUSH_AGAIN, 0);
	else
		end(b, d, ret);
	sched_flushed(b->sched, die);
}

static void on_turn(struct sched_req *req, int result)
{
	struct behind_die *d = container_of(req, struct behind_die, req);
	struct behind *b = d->all;

	/* whoever comes now waits for the die: also if this one is lost */
	pthread_mutex_lock(&b->lock);
	d->state = BEHIND_FLUSHING;
	pthread_mutex_unlock(&b->lock);
	d->result = result;
	pool_submit(b->pool, &d->work);
}
