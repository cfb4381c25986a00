/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies that the device makes, a step at a time. */
#include <errno.h>

#include "base/util.h"
#include "mem/chunks.h"
#include "mem/commit.h"
#include "mem/file.h"

struct ends {
	struct backend *be;
	struct mem_file *from, *to; /* NULL: memory that is not a file's */
	unsigned int die_from, die_to;
	uint64_t off_from, off_to;
	uint64_t len;
};

static void lock(struct mem_file *f, bool is_write)
{
	if (is_write)
		pthread_rwlock_wrlock(&f->lock);
	else
		pthread_rwlock_rdlock(&f->lock);
}

/* Both files, each once, in the order of their numbers. */
static void lock_ends(const struct ends *e)
{
	bool is_from_first =
		e->from && (!e->to || mem_ino(e->from) < mem_ino(e->to));

	if (e->from && e->from != e->to && is_from_first)
		lock(e->from, false);
	if (e->to)
		lock(e->to, true);
	if (e->from && e->from != e->to && !is_from_first)
		lock(e->from, false);
}

static void unlock_ends(const struct ends *e)
{
	if (e->to)
		pthread_rwlock_unlock(&e->to->lock);
	if (e->from && e->from != e->to)
		pthread_rwlock_unlock(&e->from->lock);
}

/* A hole is copied as one where it meets one. */
static ssize_t copy_hole(const struct ends *e, uint64_t len)
{
	struct mem_file *f = e->to;
	struct run run;
	int ret;

	if (!f)
		return backend_zero(e->be, e->die_to, e->off_to, len)
			       ? -EIO
			       : (ssize_t)len;
	if (e->off_to >= f->d->max_len)
		return -EFBIG;
	len = min_u64(len, f->d->max_len - e->off_to);
	run = chunks_run(f, e->off_to);
	len = min_u64(len, run.to - e->off_to);
	ret = run.is_hole ? 0 : chunks_zero(f, e->off_to, e->off_to + len);
	if (!ret && e->off_to > f->len && f->has_old_tail)
		ret = chunks_zero(f, f->len, e->off_to);
	if (ret)
		return ret;
	file_written(f, e->off_to + len);
	return (ssize_t)len;
}

static ssize_t copy_memory(const struct ends *e, uint64_t len)
{
	uint64_t from = e->off_from, to = e->off_to;
	int ret;

	if (e->to) {
		ssize_t n = file_prepare(e->to, to, len);

		if (n < 0)
			return n;
		len = (uint64_t)n;
		to = chunks_at(e->to, to);
	}
	/* after it: the chunks of one file may have moved */
	if (e->from)
		from = chunks_at(e->from, from);
	ret = backend_copy(e->be, e->die_from, from, e->die_to, to, len);
	if (ret && e->to)
		e->to->has_old_tail = true;
	if (ret)
		return ret;
	if (e->to)
		file_written(e->to, e->off_to + len);
	return (ssize_t)len;
}

static ssize_t copy_locked(const struct ends *e)
{
	uint64_t len = min_u64(e->len, BACKEND_MAX_COPY);
	struct run run;

	if (!e->from)
		return copy_memory(e, len);
	if (e->off_from >= e->from->len)
		return 0;
	len = min_u64(len, e->from->len - e->off_from);
	run = chunks_run(e->from, e->off_from);
	len = min_u64(len, run.to - e->off_from);
	return run.is_hole ? copy_hole(e, len) : copy_memory(e, len);
}

ssize_t mem_copy(const struct mem_place *from, const struct mem_place *to,
		 uint64_t len)
{
	struct mem_file *any = from->file ? from->file : to->file;
	struct ends e = {
		.be = any->d->be,
		.from = from->file,
		.to = to->file,
		.die_from = from->file ? from->file->d->die : from->die,
		.die_to = to->file ? to->file->d->die : to->die,
		.off_from = from->off,
		.off_to = to->off,
		.len = len,
	};
	ssize_t n;

	lock_ends(&e);
	n = copy_locked(&e);
	unlock_ends(&e);
	return n;
}
