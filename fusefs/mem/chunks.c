/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "mem/commit.h"
#include "mem/keep.h"

/* An eighth of what is before it, so that a file of 100 GiB has some 220. */
#define CHUNK_SMALL_TO (64 * MIB)
#define CHUNK_SHARE    8
#define CHUNK_MAX      (512 * MIB)

/* Addresses cost nothing, and what has room need not move when it grows. */
#define EXTENT_MIN (64 * MIB)

#define LEAVING_NS (NSEC_PER_SEC / 2) /* more than the kernel takes */

uint64_t chunks_len(uint64_t off, uint64_t unit)
{
	uint64_t len = off < CHUNK_SMALL_TO ? 0 : off / CHUNK_SHARE;

	len = MIN(len, CHUNK_MAX) / unit * unit;
	return MAX(len, unit);
}

/* Index of the first chunk that ends behind @off. */
static unsigned int find(const struct mem_file *f, uint64_t off)
{
	unsigned int lo = 0, hi = f->n_chunks;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (chunk_end(f->chunks[mid]) <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct run chunks_run(const struct mem_file *f, uint64_t off)
{
	unsigned int i = find(f, off);
	struct run run = { .from = off, .to = UINT64_MAX, .is_hole = true };

	if (i < f->n_chunks && f->chunks[i]->off <= off) {
		run.is_hole = false;
		run.to = chunk_end(f->chunks[i]);
		while (++i < f->n_chunks && f->chunks[i]->off == run.to)
			run.to = chunk_end(f->chunks[i]);
	} else if (i < f->n_chunks) {
		run.to = f->chunks[i]->off;
	}
	return run;
}

uint64_t chunks_at(const struct mem_file *f, uint64_t off)
{
	return f->extent->off + off;
}

void chunks_stop_readers(struct mem_file *f)
{
	pthread_mutex_lock(&f->reader_lock);
	for (struct mem_reader *r = f->readers; r; r = r->next) {
		r->from = r->to = 0;
		backend_reader_limit(f->d->be, f->d->die, r->reader, 0, 0);
	}
	pthread_mutex_unlock(&f->reader_lock);
}

static int extent_new(struct mem_die *d, uint64_t end, struct extent **out)
{
	int ret;

	pthread_mutex_lock(&d->lock);
	ret = extent_take(&d->space, extent_len(end, EXTENT_MIN), out);
	/* not so much, if it is the space that is scarce */
	if (ret == -ENOSPC)
		ret = extent_take(&d->space, extent_len(end, d->unit), out);
	pthread_mutex_unlock(&d->lock);
	return ret;
}

static void extent_end(struct mem_die *d, struct extent *e)
{
	pthread_mutex_lock(&d->lock);
	extent_give(e);
	pthread_mutex_unlock(&d->lock);
}

static void unmap(struct mem_die *d, struct backend_chunk *c)
{
	int ret = backend_chunk_unmap(d->be, d->die, c);

	if (ret)
		log_err("mem: die=%u %llu MiB cannot be unmapped: %s", d->die,
			(unsigned long long)(c->len / MIB), strerror(-ret));
}

/* All chunks are mapped at @to too; @copies: out. */
static int map_again(struct mem_file *f, const struct extent *to,
		     struct backend_chunk *copies)
{
	struct mem_die *d = f->d;
	int ret = 0;

	for (unsigned int i = 0; i < f->n_chunks; i++) {
		copies[i] = f->chunks[i]->chunk;
		copies[i].off = BACKEND_NOWHERE;
		ret = backend_chunk_map(d->be, d->die, &copies[i],
					to->off + f->chunks[i]->off);
		if (!ret)
			continue;
		while (i--)
			unmap(d, &copies[i]);
		break;
	}
	return ret;
}

static int move(struct mem_file *f, struct extent *to)
{
	struct backend_chunk *copies = calloc(f->n_chunks, sizeof(*copies));
	struct mem_die *d = f->d;
	int ret;

	if (!copies)
		return -ENOMEM;
	chunks_stop_readers(f);
	/* what is on its way knows the old addresses */
	backend_forget(d->be, d->die, f->extent->off, f->extent->len);
	ret = map_again(f, to, copies);
	for (unsigned int i = 0; !ret && i < f->n_chunks; i++) {
		unmap(d, &f->chunks[i]->chunk);
		f->chunks[i]->chunk = copies[i];
	}
	free(copies);
	return ret;
}

int chunks_extent(struct mem_file *f, uint64_t end)
{
	struct extent *e, *old = f->extent;
	int ret;

	if (old && old->len >= end)
		return 0;
	ret = extent_new(f->d, end, &e);
	if (!ret && f->n_chunks) {
		ret = move(f, e);
		if (ret)
			extent_end(f->d, e);
	}
	if (ret)
		return ret;
	f->extent = e;
	extent_end(f->d, old);
	return 0;
}

static int make_room(struct mem_file *f)
{
	unsigned int room = f->room ? 2 * f->room : 4;
	struct mem_chunk **more;

	if (f->n_chunks < f->room)
		return 0;
	more = malloc(room * sizeof(struct mem_chunk *));
	if (!more)
		return -ENOMEM;
	/* whoever commits looks at it with the die's lock alone */
	pthread_mutex_lock(&f->d->lock);
	if (f->n_chunks)
		memcpy(more, f->chunks, f->n_chunks * sizeof(*more));
	free(f->chunks);
	f->chunks = more;
	f->room = room;
	pthread_mutex_unlock(&f->d->lock);
	return 0;
}

static void count_locked(struct mem_file *f, int n, uint64_t bytes)
{
	struct mem_die *d = f->d;

	f->n_chunks += (unsigned int)n;
	d->bytes += bytes;
	if (*f->name)
		d->n_named_chunks += (size_t)n;
	commit_change_locked(d);
}

static void insert(struct mem_file *f, struct mem_chunk *c)
{
	unsigned int i = find(f, c->off);

	pthread_mutex_lock(&f->d->lock);
	memmove(&f->chunks[i + 1], &f->chunks[i],
		(f->n_chunks - i) * sizeof(struct mem_chunk *));
	f->chunks[i] = c;
	count_locked(f, 1, c->chunk.len);
	pthread_mutex_unlock(&f->d->lock);
}

static int reserve_id(struct mem_die *d, uint64_t *id)
{
	int ret = 0;

	pthread_mutex_lock(&d->lock);
	if (commit_has_room_locked(d, 0, 1))
		*id = d->next_chunk_id++;
	else
		ret = -ENOSPC;
	pthread_mutex_unlock(&d->lock);
	return ret;
}

/* Files without a name that nobody has open: the kernel is about to say so. */
static bool is_any_leaving_locked(struct mem_die *d)
{
	bool is_open = true;

	for (size_t i = 0; is_open && i < d->n_files; i++) {
		struct mem_file *f = d->files[i];

		if (*f->name)
			continue;
		pthread_mutex_lock(&f->reader_lock);
		is_open = f->readers;
		pthread_mutex_unlock(&f->reader_lock);
	}
	return d->n_leaving || !is_open;
}

/*
 * A file that was removed is forgotten by the kernel a moment later, beside the
 * requests that come next: whoever makes room first must find it. False: there
 * is nothing to wait for, or it was waited for long enough.
 */
static bool await_room(struct mem_die *d, uint64_t until)
{
	struct timespec at = { .tv_sec = (time_t)(until / NSEC_PER_SEC),
			       .tv_nsec = (long)(until % NSEC_PER_SEC) };
	int ret = -1;

	pthread_mutex_lock(&d->lock);
	if (is_any_leaving_locked(d))
		ret = pthread_cond_timedwait(&d->left, &d->lock, &at);
	pthread_mutex_unlock(&d->lock);
	return !ret;
}

/* Of @len bytes, or fewer if the device has not so many. */
static int take_some(struct mem_die *d, uint64_t len, struct backend_chunk *c)
{
	int ret;

	for (;;) {
		ret = backend_chunk_make(d->be, d->die, len, c);
		if (ret != -ENOSPC || len == d->unit)
			return ret;
		len = MAX(len / 2 / d->unit * d->unit, d->unit);
	}
}

static int take_memory(struct mem_die *d, uint64_t len, struct backend_chunk *c)
{
	uint64_t until = now_ns() + LEAVING_NS;
	int ret;

	do
		ret = take_some(d, len, c);
	while (ret == -ENOSPC && await_room(d, until));
	if (ret == -ENFILE && !atomic_exchange(&d->has_no_fd, true))
		log_err("mem: die=%u the limit of open files is reached, no file can grow",
			d->die);
	return ret;
}

/* Nobody is to see what another process left there. */
static int map_cleared(struct mem_file *f, struct mem_chunk *c)
{
	struct mem_die *d = f->d;
	int ret;

	ret = chunks_extent(f, chunk_end(c));
	if (!ret)
		ret = backend_chunk_map(d->be, d->die, &c->chunk,
					f->extent->off + c->off);
	if (!ret)
		ret = backend_zero(d->be, d->die, f->extent->off + c->off,
				   c->chunk.len);
	return ret;
}

/* One more chunk at @off, of @len bytes at most, with memory that is zero. */
static int add_chunk(struct mem_file *f, uint64_t off, uint64_t len)
{
	struct mem_die *d = f->d;
	struct mem_chunk *c;
	int ret;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->off = off;
	ret = make_room(f);
	if (!ret)
		ret = reserve_id(d, &c->id);
	if (!ret)
		ret = take_memory(d, len, &c->chunk);
	if (ret)
		goto out_free;
	ret = map_cleared(f, c);
	if (!ret)
		ret = keep_put(d, c);
	if (ret)
		goto out_chunk;
	insert(f, c);
	return 0;

out_chunk:
	unmap(d, &c->chunk);
	backend_chunk_free(d->be, d->die, &c->chunk);
out_free:
	free(c);
	return ret;
}

int chunks_fill(struct mem_file *f, uint64_t from, uint64_t to, uint64_t *done)
{
	uint64_t unit = f->d->unit;

	*done = from;
	while (*done < to) {
		struct run run = chunks_run(f, *done);
		uint64_t off = *done / unit * unit;
		int ret;

		if (!run.is_hole) {
			*done = MIN(run.to, to);
			continue;
		}
		ret = add_chunk(f, off, MIN(chunks_len(off, unit), run.to - off));
		if (ret)
			return ret;
	}
	return 0;
}

int chunks_zero(struct mem_file *f, uint64_t from, uint64_t to)
{
	int ret = 0;

	while (!ret && from < to) {
		struct run run = chunks_run(f, from);
		uint64_t end = MIN(run.to, to);

		if (!run.is_hole)
			ret = backend_zero(f->d->be, f->d->die,
					   chunks_at(f, from), end - from);
		from = end;
	}
	return ret;
}

static void free_chunk(struct mem_die *d, struct mem_chunk *c)
{
	unmap(d, &c->chunk);
	backend_chunk_free(d->be, d->die, &c->chunk);
	free(c);
}

/* Chunks [@i, @i + @n) are the file's no longer, but *@out's. The array keeps
 * its room: they can be put back. */
static int take_out(struct mem_file *f, unsigned int i, unsigned int n,
		    struct mem_chunk ***out)
{
	struct mem_chunk **gone = malloc(n * sizeof(struct mem_chunk *));
	uint64_t bytes = 0;

	if (!gone)
		return -ENOMEM;
	memcpy(gone, &f->chunks[i], n * sizeof(*gone));
	for (unsigned int k = 0; k < n; k++)
		bytes += gone[k]->chunk.len;
	pthread_mutex_lock(&f->d->lock);
	memmove(&f->chunks[i], &f->chunks[i + n],
		(f->n_chunks - i - n) * sizeof(struct mem_chunk *));
	count_locked(f, -(int)n, -bytes);
	pthread_mutex_unlock(&f->d->lock);
	*out = gone;
	return 0;
}

static int give_back(struct mem_file *f, unsigned int i, unsigned int n)
{
	struct mem_chunk **gone;
	int ret;

	ret = take_out(f, i, n, &gone);
	if (ret)
		return ret;
	ret = commit_now(f->d);
	if (ret) {
		/* the table still names them */
		for (i = 0; i < n; i++)
			insert(f, gone[i]);
		free(gone);
		return ret;
	}
	keep_drop(f->d, gone, n);
	chunks_stop_readers(f);
	for (i = 0; i < n; i++)
		free_chunk(f->d, gone[i]);
	if (!f->n_chunks) {
		extent_end(f->d, f->extent);
		f->extent = NULL;
	}
	free(gone);
	return 0;
}

static bool is_inside(const struct mem_file *f, const struct mem_chunk *c,
		      uint64_t from, uint64_t to)
{
	bool is_last = c->off < f->len && f->len <= chunk_end(c);

	return c->off >= from &&
	       (chunk_end(c) <= to || (is_last && f->len <= to));
}

int chunks_remove(struct mem_file *f, uint64_t from, uint64_t to)
{
	unsigned int i = find(f, from), n = 0;

	if (i < f->n_chunks && f->chunks[i]->off < from)
		i++;
	while (i + n < f->n_chunks && is_inside(f, f->chunks[i + n], from, to))
		n++;
	return n ? give_back(f, i, n) : 0;
}

void chunks_undo(struct mem_file *f, uint64_t first_id)
{
	unsigned int i = 0;
	int ret = 0;

	while (!ret && i < f->n_chunks) {
		if (f->chunks[i]->id < first_id)
			i++;
		else
			ret = give_back(f, i, 1);
	}
}

int chunks_adopt(struct mem_file *f, struct mem_chunk *c)
{
	struct mem_die *d = f->d;
	int ret;

	ret = make_room(f);
	if (!ret)
		ret = backend_chunk_map(d->be, d->die, &c->chunk,
					f->extent->off + c->off);
	if (ret)
		return ret;
	insert(f, c);
	keep_note(d, c);
	return 0;
}

void chunks_close(struct mem_file *f, bool is_kept)
{
	if (is_kept)
		keep_forget(f->d, f->chunks, f->n_chunks);
	else if (f->n_chunks)
		keep_drop(f->d, f->chunks, f->n_chunks);
	for (unsigned int i = 0; i < f->n_chunks; i++)
		free_chunk(f->d, f->chunks[i]);
	pthread_mutex_lock(&f->d->lock);
	extent_give(f->extent);
	pthread_mutex_unlock(&f->d->lock);
	free(f->chunks);
}
