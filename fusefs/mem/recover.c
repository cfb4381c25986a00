/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/recover.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "mem/chunks.h"
#include "mem/commit.h"
#include "mem/file.h"
#include "mem/keep.h"
#include "mem/names.h"

/* Whoever had the pool may be on its way out: a driver takes its time. */
#define CLAIM_NS      (5 * NSEC_PER_SEC)
#define CLAIM_STEP_NS (50 * NSEC_PER_MSEC)

/* Descriptors that the keeper has, by id; -1: a file took it. */
struct found {
	struct mem_die *d;
	size_t n, room;
	struct found_one {
		uint64_t id;
		int fd;
	} * all;
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct mem_die *d, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->why, sizeof(d->why), fmt, ap);
	va_end(ap);
	return ret;
}

static int on_first(void *arg, uint64_t id, int fd)
{
	(void)id;
	close(fd);
	*(bool *)arg = true;
	return 1;
}

int recover_claim(struct mem_die *d, bool *has_memory)
{
	struct timespec step = { .tv_nsec = CLAIM_STEP_NS };
	struct keeper *k = d->m->keeper;
	uint64_t end = now_ns() + CLAIM_NS;
	pid_t holder = 0;
	int ret;

	*has_memory = false;
	for (;;) {
		ret = keeper_claim(k, d->uuid, &holder);
		if (ret != -EBUSY || now_ns() >= end)
			break;
		nanosleep(&step, NULL);
	}
	if (ret == -EBUSY)
		return refuse(d, ret, "another k80fs has its files: pid %d",
			      holder);
	if (!ret)
		ret = keeper_each(k, d->uuid, on_first, has_memory);
	return ret < 0 ? refuse(d, ret, "k80-keeper: %s", strerror(-ret)) : 0;
}

static int on_found(void *arg, uint64_t id, int fd)
{
	struct found *found = arg;
	struct found_one *more;

	if (found->n == found->room) {
		size_t room = found->room ? 2 * found->room : 256;

		more = realloc(found->all, room * sizeof(*more));
		if (!more) {
			close(fd);
			return -ENOMEM;
		}
		found->all = more;
		found->room = room;
	}
	found->all[found->n++] = (struct found_one){ id, fd };
	return 0;
}

static void found_free(struct found *found)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->all[i].fd >= 0)
			close(found->all[i].fd);
	free(found->all);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct found_one *)a)->id;
	uint64_t y = ((const struct found_one *)b)->id;

	return x < y ? -1 : x > y;
}

static struct found_one *find(struct found *found, uint64_t id)
{
	struct found_one key = { .id = id };

	return found->n ? bsearch(&key, found->all, found->n, sizeof(key), by_id)
			: NULL;
}

static bool has_all(struct found *found, const struct mem_table_file *t)
{
	for (unsigned int i = 0; i < t->n_chunks; i++)
		if (!find(found, t->chunks[i].id))
			return false;
	return true;
}

static int take_chunk(struct mem_file *f, struct found *found,
		      const struct mem_table_chunk *t)
{
	struct found_one *one = find(found, t->id);
	struct mem_die *d = f->d;
	struct mem_chunk *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	c->id = t->id;
	c->off = t->off;
	ret = backend_chunk_import(d->be, d->die, one->fd, t->len, &c->chunk);
	if (ret)
		goto out_free;
	one->fd = -1;
	ret = chunks_adopt(f, c);
	if (!ret)
		return 0;
	backend_chunk_free(d->be, d->die, &c->chunk);
out_free:
	free(c);
	return ret;
}

static int take_chunks(struct mem_file *f, struct found *found,
		       const struct mem_table_file *t)
{
	const struct mem_table_chunk *last = t->chunks + t->n_chunks - 1;
	int ret;

	if (!t->n_chunks)
		return 0;
	ret = chunks_extent(f, last->off + last->len);
	for (unsigned int i = 0; !ret && i < t->n_chunks; i++)
		ret = take_chunk(f, found, &t->chunks[i]);
	return ret;
}

static struct mem_file *take_attr(struct mem_die *d,
				  const struct mem_table_file *t)
{
	struct mem_file *f = file_new(d);

	if (!f)
		return NULL;
	f->number = t->ino;
	f->mode = t->mode & 07777;
	f->is_shared = t->mode & MEM_TABLE_SHARED;
	f->uid = t->uid;
	f->gid = t->gid;
	f->atime_ns = t->atime_ns;
	f->mtime_ns = t->mtime_ns;
	f->ctime_ns = t->ctime_ns;
	f->len = t->len;
	/* more may have been written than the table tells */
	f->has_old_tail = true;
	return f;
}

static int take_file(void *arg, const struct mem_table_file *t)
{
	struct found *found = arg;
	struct mem_die *d = found->d;
	struct mem_file *f;
	int ret;

	if (!has_all(found, t)) {
		d->lost++;
		log_warn("mem: die=%u %s: its memory is gone, and so is the file",
			 d->die, t->name);
		return 0;
	}
	f = take_attr(d, t);
	if (!f)
		return -ENOMEM;
	ret = take_chunks(f, found, t);
	if (!ret) {
		pthread_mutex_lock(&d->lock);
		ret = names_room_locked(d);
		if (!ret)
			names_add_locked(d, f, t->name);
		pthread_mutex_unlock(&d->lock);
	}
	if (ret)
		file_free(f, true);
	return ret;
}

/* The pool's table, or a new one. */
static int open_table(struct mem_die *d)
{
	struct keeper *k = d->m->keeper;
	int ret;

	ret = keeper_table(k, d->uuid, &d->table_fd);
	if (!ret)
		return mem_table_open(d->table_fd, &d->table);
	d->table_fd = -1;
	if (ret != -ENOENT)
		return ret;
	ret = mem_table_new(&d->table_fd, &d->table);
	return ret ? ret : keeper_set_table(k, d->uuid, d->table_fd);
}

static int read_table(struct mem_die *d, struct found *found)
{
	struct mem_table_head head;
	char why[128] = "";
	int ret;

	ret = mem_table_read(d->table, &head, take_file, found, why, sizeof(why));
	if (*why)
		log_warn("mem: die=%u %s", d->die, why);
	if (ret)
		return ret;
	pthread_mutex_lock(&d->lock);
	names_sort_locked(d);
	d->next_number = head.next_ino;
	d->next_chunk_id = head.next_chunk_id;
	commit_change_locked(d);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

/* The table names none of these: who made them was killed before he said so,
 * or they were of files without a name. */
static int drop_rest(struct mem_die *d, struct found *found)
{
	uint64_t *ids = malloc((found->n + 1) * sizeof(*ids));
	unsigned int n = 0;
	int ret = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < found->n; i++) {
		if (found->all[i].fd < 0)
			continue;
		ids[n++] = found->all[i].id;
		/* an id is not to be given twice, whatever the table says */
		d->next_chunk_id = MAX(d->next_chunk_id, found->all[i].id + 1);
	}
	if (n)
		ret = keeper_drop(d->m->keeper, d->uuid, ids, n);
	free(ids);
	return ret;
}

int recover_die(struct mem_die *d)
{
	struct found found = { .d = d };
	int ret;

	ret = keeper_each(d->m->keeper, d->uuid, on_found, &found);
	if (ret)
		refuse(d, ret, "k80-keeper: its memory: %s", strerror(-ret));
	if (!ret) {
		ret = open_table(d);
		if (ret)
			refuse(d, ret,
			       "its table cannot be used: %s; without this mount, k80-keeper --free %s lets go of its files",
			       strerror(-ret), d->uuid);
	}
	if (!ret) {
		if (found.n)
			qsort(found.all, found.n, sizeof(*found.all), by_id);
		ret = read_table(d, &found);
		if (!ret)
			ret = commit_now(d);
		if (!ret)
			ret = drop_rest(d, &found);
		if (ret)
			refuse(d, ret, "its files cannot be had: %s",
			       strerror(-ret));
	}
	found_free(&found);
	return ret;
}
