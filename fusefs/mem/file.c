/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a file, and what else is kept of it. */
#include "mem/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "mem/chunks.h"
#include "mem/commit.h"

/* what holes read as; never written to */
static char zeroes[BACKEND_MAX_CHUNK];

int64_t file_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * (int64_t)NSEC_PER_SEC + now.tv_nsec;
}

struct mem_file *file_new(struct mem_die *d)
{
	struct mem_file *f = calloc(1, sizeof(*f));
	pthread_rwlockattr_t attr;

	if (!f)
		return NULL;
	f->d = d;
	/* readers that never let go of it together would keep writers out */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&f->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	pthread_mutex_init(&f->reader_lock, NULL);
	f->atime_ns = f->mtime_ns = f->ctime_ns = file_now_ns();
	return f;
}

void file_free(struct mem_file *f, bool is_kept)
{
	chunks_close(f, is_kept);
	pthread_rwlock_destroy(&f->lock);
	pthread_mutex_destroy(&f->reader_lock);
	free(f);
}

void file_touch(struct mem_file *f)
{
	f->mtime_ns = f->ctime_ns = file_now_ns();
}

static struct timespec to_timespec(int64_t ns)
{
	struct timespec ts = {
		.tv_sec = ns / (int64_t)NSEC_PER_SEC,
		.tv_nsec = ns % (int64_t)NSEC_PER_SEC,
	};

	if (ts.tv_nsec < 0) {
		ts.tv_sec--;
		ts.tv_nsec += (long)NSEC_PER_SEC;
	}
	return ts;
}

static int64_t to_ns(struct timespec ts)
{
	int64_t ns;

	/* times that no 64-bit number of nanoseconds has: the nearest one */
	if (__builtin_mul_overflow((int64_t)ts.tv_sec, (int64_t)NSEC_PER_SEC,
				   &ns) ||
	    __builtin_add_overflow(ns, (int64_t)ts.tv_nsec, &ns))
		return ts.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

unsigned int mem_die(const struct mem_file *f)
{
	return f->d->die;
}

uint64_t mem_ino(const struct mem_file *f)
{
	return MEM_INO_BIT | (uint64_t)f->d->die << MEM_INO_DIE_SHIFT | f->number;
}

_Atomic bool *mem_mark(struct mem_file *f)
{
	return &f->mark;
}

void mem_stat(struct mem_file *f, struct mem_stat *st)
{
	memset(st, 0, sizeof(*st));
	st->ino = mem_ino(f);
	pthread_mutex_lock(&f->d->lock);
	st->mode = f->mode | S_IFREG;
	st->uid = f->uid;
	st->gid = f->gid;
	st->nlink = *f->name != '\0';
	st->len = f->len;
	for (unsigned int i = 0; i < f->n_chunks; i++)
		st->bytes_taken += f->chunks[i]->chunk.len;
	pthread_mutex_unlock(&f->d->lock);
	st->atime = to_timespec(f->atime_ns);
	st->mtime = to_timespec(f->mtime_ns);
	st->ctime = to_timespec(f->ctime_ns);
}

int mem_setattr(struct mem_file *f, const struct mem_stat *st, unsigned int what)
{
	pthread_mutex_lock(&f->d->lock);
	if (what & MEM_SET_MODE)
		f->mode = st->mode & 07777;
	if (what & MEM_SET_UID)
		f->uid = st->uid;
	if (what & MEM_SET_GID)
		f->gid = st->gid;
	if (what & MEM_SET_ATIME)
		f->atime_ns = to_ns(st->atime);
	if (what & MEM_SET_MTIME)
		f->mtime_ns = to_ns(st->mtime);
	f->ctime_ns = file_now_ns();
	commit_change_locked(f->d);
	pthread_mutex_unlock(&f->d->lock);
	return commit_now(f->d);
}

struct mem_reader *mem_reader_new(struct mem_file *f)
{
	struct mem_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->f = f;
	r->reader = backend_reader_new(f->d->be, f->d->die);
	backend_reader_limit(f->d->be, f->d->die, r->reader, 0, 0);
	pthread_mutex_lock(&f->reader_lock);
	r->next = f->readers;
	f->readers = r;
	pthread_mutex_unlock(&f->reader_lock);
	return r;
}

void mem_reader_end(struct mem_reader *r)
{
	struct mem_reader **p;

	if (!r)
		return;
	pthread_mutex_lock(&r->f->reader_lock);
	for (p = &r->f->readers; *p != r; p = &(*p)->next)
		;
	*p = r->next;
	pthread_mutex_unlock(&r->f->reader_lock);
	backend_reader_end(r->f->d->be, r->f->d->die, r->reader);
	free(r);
}

/* Of the piece of the file that is read now, as far as the file goes. */
static void allow_ahead(struct mem_reader *r, struct run run)
{
	struct mem_file *f = r->f;
	uint64_t from = chunks_at(f, run.from);
	uint64_t to = chunks_at(f, MIN(run.to, (uint64_t)f->len));

	if (f->is_shared)
		return;
	pthread_mutex_lock(&f->reader_lock);
	/* where it goes on is inside: nothing has changed */
	if (from < r->from || from >= r->to || to != r->to) {
		r->from = from;
		r->to = to;
		backend_reader_limit(f->d->be, f->d->die, r->reader, from, to);
	}
	pthread_mutex_unlock(&f->reader_lock);
}

/* Memory and holes in one read. */
static int read_mixed(struct mem_file *f, uint64_t off, size_t len,
		      struct mem_loan *loan)
{
	uint64_t end = off + len;
	char *copy = calloc(1, len);
	int ret = copy ? 0 : -ENOMEM;

	for (uint64_t at = off; !ret && at < end;) {
		struct run run = chunks_run(f, at);
		uint64_t to = MIN(run.to, end);

		if (!run.is_hole)
			ret = backend_read(f->d->be, f->d->die, chunks_at(f, at),
					   copy + (at - off), to - at);
		at = to;
	}
	if (ret) {
		free(copy);
		return ret;
	}
	loan->data = loan->copy = copy;
	return 0;
}

static int read_locked(struct mem_reader *r, uint64_t off, size_t len,
		       struct mem_loan *loan)
{
	struct mem_file *f = r->f;
	struct run run = chunks_run(f, off);
	int ret;

	if (run.to < off + len)
		return read_mixed(f, off, len, loan);
	if (run.is_hole) {
		loan->data = zeroes;
		return 0;
	}
	allow_ahead(r, run);
	ret = backend_lend(f->d->be, f->d->die, r->reader, chunks_at(f, off),
			   len, &loan->loan);
	if (!ret)
		loan->data = loan->loan.data;
	return ret;
}

ssize_t mem_read(struct mem_reader *r, uint64_t off, size_t len,
		 struct mem_loan *loan)
{
	struct mem_file *f = r->f;
	int ret = 0;

	*loan = (struct mem_loan){ .d = f->d };
	pthread_rwlock_rdlock(&f->lock);
	len = off < f->len
		      ? min_u64(min_u64(len, BACKEND_MAX_CHUNK), f->len - off)
		      : 0;
	if (len)
		ret = read_locked(r, off, len, loan);
	pthread_rwlock_unlock(&f->lock);
	return ret ? ret : (ssize_t)len;
}

void mem_give_back(struct mem_loan *loan)
{
	if (loan->loan.data)
		backend_give_back(loan->d->be, loan->d->die, &loan->loan);
	free(loan->copy);
}

ssize_t file_prepare(struct mem_file *f, uint64_t off, uint64_t len)
{
	uint64_t done;
	int ret;

	if (off >= f->d->max_len)
		return -EFBIG;
	len = min_u64(len, f->d->max_len - off);
	ret = chunks_fill(f, off, off + len, &done);
	if (done == off)
		return ret;
	if (off > f->len && f->has_old_tail) {
		ret = chunks_zero(f, f->len, off);
		if (ret)
			return ret;
	}
	return (ssize_t)(done - off);
}

void file_written(struct mem_file *f, uint64_t end)
{
	uint64_t grown = 0;

	file_touch(f);
	if (end > f->len) {
		grown = end - f->len;
		f->d->is_unsynced = true;
		f->len = end;
	}
	commit_soon(f->d, grown);
}

/* Within what is there: beside other reads and writes. 0: it is not. */
static ssize_t write_inside(struct mem_file *f, uint64_t off, const void *buf,
			    size_t len)
{
	int ret = 0;

	pthread_rwlock_rdlock(&f->lock);
	if (off + len > f->len || chunks_run(f, off).is_hole ||
	    chunks_run(f, off).to < off + len)
		len = 0;
	if (len)
		ret = backend_write(f->d->be, f->d->die, chunks_at(f, off), buf,
				    len);
	if (len && !ret)
		file_written(f, off + len);
	pthread_rwlock_unlock(&f->lock);
	return ret ? ret : (ssize_t)len;
}

static ssize_t write_growing(struct mem_file *f, uint64_t off, const void *buf,
			     size_t len)
{
	ssize_t n;
	int ret;

	pthread_rwlock_wrlock(&f->lock);
	n = file_prepare(f, off, len);
	if (n > 0) {
		ret = backend_write(f->d->be, f->d->die, chunks_at(f, off), buf,
				    (size_t)n);
		if (ret) {
			/* some of it may be there */
			f->has_old_tail = true;
			n = ret;
		} else {
			file_written(f, off + (uint64_t)n);
		}
	}
	pthread_rwlock_unlock(&f->lock);
	return n;
}

ssize_t mem_write(struct mem_file *f, uint64_t off, const void *buf, size_t len)
{
	ssize_t n;
	int ret = 0;

	if (off > INT64_MAX - BACKEND_MAX_CHUNK)
		return -EFBIG;
	len = min_u64(len, BACKEND_MAX_CHUNK);
	n = write_inside(f, off, buf, len);
	if (!n && len)
		n = write_growing(f, off, buf, len);
	if (n > 0 && f->is_shared)
		ret = backend_sync(f->d->be, f->d->die);
	return ret ? ret : n;
}

static int make_longer(struct mem_file *f, uint64_t len)
{
	int ret = 0;

	if (f->has_old_tail)
		ret = chunks_zero(f, f->len, len);
	if (ret)
		return ret;
	file_written(f, len);
	return 0;
}

/* The length is committed first: a daemon that is killed in between leaves the
 * file as it was or shorter, never with zeroes in it. */
static int make_shorter(struct mem_file *f, uint64_t len)
{
	uint64_t old = f->len;
	int ret;

	f->len = len;
	file_touch(f);
	f->d->is_dirty = true;
	ret = chunks_remove(f, len, UINT64_MAX);
	if (!ret)
		ret = commit_now(f->d);
	if (ret) {
		f->len = old;
		return ret;
	}
	ret = chunks_zero(f, len, old);
	if (ret)
		f->has_old_tail = true;
	return ret;
}

static int resize_locked(struct mem_file *f, uint64_t len)
{
	if (len > f->d->max_len)
		return -EFBIG;
	if (len < f->len)
		return make_shorter(f, len);
	if (len > f->len)
		return make_longer(f, len);
	file_touch(f);
	commit_soon(f->d, 0);
	return 0;
}

int mem_truncate(struct mem_file *f, uint64_t len)
{
	int ret;

	pthread_rwlock_wrlock(&f->lock);
	ret = resize_locked(f, len);
	pthread_rwlock_unlock(&f->lock);
	/* no close need follow that would do it */
	return ret ? ret : commit_now(f->d);
}

static uint64_t next_id(struct mem_die *d)
{
	uint64_t id;

	pthread_mutex_lock(&d->lock);
	id = d->next_chunk_id;
	pthread_mutex_unlock(&d->lock);
	return id;
}

/* All of it or nothing. */
static int allocate_locked(struct mem_file *f, uint64_t off, uint64_t len,
			   bool keep_len)
{
	uint64_t first_id = next_id(f->d), end = off + len, done;
	int ret;

	if (end < off || end > f->d->max_len)
		return -EFBIG;
	ret = chunks_fill(f, off, end, &done);
	if (!ret && !keep_len && end > f->len)
		ret = make_longer(f, end);
	if (ret)
		chunks_undo(f, first_id);
	return ret;
}

int mem_allocate(struct mem_file *f, uint64_t off, uint64_t len, bool keep_len)
{
	int ret;

	pthread_rwlock_wrlock(&f->lock);
	ret = allocate_locked(f, off, len, keep_len);
	f->ctime_ns = file_now_ns();
	pthread_rwlock_unlock(&f->lock);
	return ret ? ret : commit_now(f->d);
}

int mem_zero(struct mem_file *f, uint64_t off, uint64_t len, bool keep_len)
{
	int ret;

	pthread_rwlock_wrlock(&f->lock);
	ret = allocate_locked(f, off, len, keep_len);
	if (!ret)
		ret = chunks_zero(f, off, off + len);
	file_touch(f);
	pthread_rwlock_unlock(&f->lock);
	return ret ? ret : commit_now(f->d);
}

int mem_punch(struct mem_file *f, uint64_t off, uint64_t len)
{
	uint64_t end = len > UINT64_MAX - off ? UINT64_MAX : off + len;
	int ret;

	pthread_rwlock_wrlock(&f->lock);
	ret = chunks_remove(f, off, end);
	if (!ret)
		ret = chunks_zero(f, off, end);
	file_touch(f);
	commit_soon(f->d, 0);
	pthread_rwlock_unlock(&f->lock);
	return ret;
}

off_t mem_seek(struct mem_file *f, uint64_t off, int whence)
{
	struct run run;
	off_t ret;

	if (whence != SEEK_DATA && whence != SEEK_HOLE)
		return -EINVAL;
	pthread_rwlock_rdlock(&f->lock);
	run = chunks_run(f, off);
	if (off >= f->len)
		ret = -ENXIO;
	else if (run.is_hole == (whence == SEEK_HOLE))
		ret = (off_t)off;
	else if (run.to < f->len)
		ret = (off_t)run.to;
	else
		ret = whence == SEEK_HOLE ? (off_t)f->len : -ENXIO;
	pthread_rwlock_unlock(&f->lock);
	return ret;
}

int mem_sync(struct mem_file *f)
{
	int ret = backend_sync(f->d->be, f->d->die);

	return ret ? ret : commit_now(f->d);
}
