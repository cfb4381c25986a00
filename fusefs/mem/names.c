/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "mem/commit.h"
#include "mem/file.h"

#define NUMBER_MASK (((uint64_t)1 << MEM_INO_DIE_SHIFT) - 1)

int names_check(const char *name)
{
	size_t len = strlen(name);

	if (len > MEM_NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || strchr(name, '/') || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return -EINVAL;
	return 0;
}

/* FNV-1a */
static unsigned int bucket(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % MEM_BUCKETS;
}

struct mem_file *names_find_locked(const struct mem_die *d, const char *name)
{
	struct mem_file *f = d->buckets[bucket(name)];

	while (f && strcmp(f->name, name))
		f = f->next;
	return f;
}

static void set_name_locked(struct mem_file *f, const char *name)
{
	struct mem_file **head = &f->d->buckets[bucket(name)];

	strcpy(f->name, name);
	f->next = *head;
	*head = f;
}

static void clear_name_locked(struct mem_file *f)
{
	struct mem_file **p = &f->d->buckets[bucket(f->name)];

	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	*f->name = '\0';
}

/* It loses its name for good; the caller gives up the name's count. */
static void remove_locked(struct mem_file *f)
{
	clear_name_locked(f);
	f->ctime_ns = file_now_ns();
	f->d->n_named--;
	f->d->n_named_chunks -= f->n_chunks;
}

int names_room_locked(struct mem_die *d)
{
	size_t room = d->room ? 2 * d->room : 64;
	struct mem_file **more;

	if (d->n_files < d->room)
		return 0;
	more = realloc(d->files, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	d->files = more;
	d->room = room;
	return 0;
}

void names_add_locked(struct mem_die *d, struct mem_file *f, const char *name)
{
	set_name_locked(f, name);
	f->refs++;
	d->files[d->n_files++] = f;
	d->n_named++;
	d->n_named_chunks += f->n_chunks;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = (*(struct mem_file *const *)a)->number;
	uint64_t y = (*(struct mem_file *const *)b)->number;

	return x < y ? -1 : x > y;
}

void names_sort_locked(struct mem_die *d)
{
	if (d->n_files)
		qsort(d->files, d->n_files, sizeof(*d->files), by_number);
}

/* Index of the first file with at least that number. */
static size_t find_number_locked(const struct mem_die *d, uint64_t number)
{
	size_t lo = 0, hi = d->n_files;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->files[mid]->number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct mem_die *die_of(struct mem *m, unsigned int die)
{
	return die < m->n_dies && !*m->dies[die].why ? &m->dies[die] : NULL;
}

struct mem_file *mem_get(struct mem *m, uint64_t ino)
{
	uint64_t number = ino & NUMBER_MASK;
	struct mem_die *d = die_of(m, mem_ino_die(ino));
	struct mem_file *f = NULL;
	size_t i;

	if (!d || !mem_is_ino(ino))
		return NULL;
	pthread_mutex_lock(&d->lock);
	i = find_number_locked(d, number);
	if (i < d->n_files && d->files[i]->number == number) {
		f = d->files[i];
		f->refs++;
	}
	pthread_mutex_unlock(&d->lock);
	return f;
}

void mem_count(struct mem_file *f)
{
	pthread_mutex_lock(&f->d->lock);
	f->refs++;
	pthread_mutex_unlock(&f->d->lock);
}

void mem_put_many(struct mem_file *f, uint64_t n)
{
	struct mem_die *d = f->d;
	bool is_last;
	size_t i;

	pthread_mutex_lock(&d->lock);
	f->refs -= n;
	is_last = !f->refs;
	if (is_last) {
		i = find_number_locked(d, f->number);
		memmove(&d->files[i], &d->files[i + 1],
			(d->n_files - i - 1) * sizeof(*d->files));
		d->n_files--;
		d->n_leaving++;
		for (i = 0; i < f->n_chunks; i++)
			d->bytes -= f->chunks[i]->chunk.len;
	}
	pthread_mutex_unlock(&d->lock);
	if (!is_last)
		return;
	file_free(f, false);
	pthread_mutex_lock(&d->lock);
	d->n_leaving--;
	pthread_cond_broadcast(&d->left);
	pthread_mutex_unlock(&d->lock);
}

void mem_put(struct mem_file *f)
{
	mem_put_many(f, 1);
}

int mem_lookup(struct mem *m, unsigned int die, const char *name,
	       struct mem_file **out)
{
	struct mem_die *d = die_of(m, die);
	struct mem_file *f;
	int ret = names_check(name);

	if (ret || !d)
		return ret == -ENAMETOOLONG ? ret : -ENOENT;
	pthread_mutex_lock(&d->lock);
	f = names_find_locked(d, name);
	if (f)
		f->refs++;
	pthread_mutex_unlock(&d->lock);
	if (!f)
		return -ENOENT;
	*out = f;
	return 0;
}

/* @made: with its rights; it is used up if it was not there. */
static int create_locked(struct mem_die *d, const char *name, bool excl,
			 struct mem_file *made, struct mem_file **out)
{
	struct mem_file *f = names_find_locked(d, name);
	int ret;

	if (f && excl)
		return -EEXIST;
	if (!f) {
		ret = commit_has_room_locked(d, 1, 0) ? names_room_locked(d)
						      : -ENOSPC;
		if (ret)
			return ret;
		f = made;
		f->number = d->next_number++;
		names_add_locked(d, f, name);
		commit_change_locked(d);
	}
	f->refs++;
	*out = f;
	return 0;
}

int mem_create(struct mem *m, unsigned int die, const char *name, mode_t mode,
	       uid_t uid, gid_t gid, bool excl, struct mem_file **out)
{
	struct mem_die *d = die_of(m, die);
	struct mem_file *made, *f = NULL;
	int ret = d ? names_check(name) : -ENOENT;

	if (ret)
		return ret;
	made = file_new(d);
	if (!made)
		return -ENOMEM;
	made->mode = mode & 07777;
	made->uid = uid;
	made->gid = gid;
	pthread_mutex_lock(&d->lock);
	ret = create_locked(d, name, excl, made, &f);
	pthread_mutex_unlock(&d->lock);
	if (ret || f != made)
		file_free(made, false);
	if (ret)
		return ret;
	ret = commit_now(d);
	if (ret)
		mem_put(f);
	else
		*out = f;
	return ret;
}

int mem_unlink(struct mem *m, unsigned int die, const char *name)
{
	struct mem_die *d = die_of(m, die);
	struct mem_file *f;
	int ret;

	if (!d)
		return -ENOENT;
	pthread_mutex_lock(&d->lock);
	f = names_find_locked(d, name);
	if (f) {
		remove_locked(f);
		commit_change_locked(d);
	}
	pthread_mutex_unlock(&d->lock);
	if (!f)
		return -ENOENT;
	ret = commit_now(d);
	mem_put(f);
	return ret;
}

static void exchange_locked(struct mem_file *a, struct mem_file *b)
{
	char name_a[MEM_NAME_MAX + 1], name_b[MEM_NAME_MAX + 1];

	strcpy(name_a, a->name);
	strcpy(name_b, b->name);
	clear_name_locked(a);
	clear_name_locked(b);
	set_name_locked(a, name_b);
	set_name_locked(b, name_a);
	a->ctime_ns = b->ctime_ns = file_now_ns();
}

/* @gone: out: the file that was there, NULL for none */
static int rename_locked(struct mem_die *d, const char *from, const char *to,
			 unsigned int flags, struct mem_file **gone)
{
	struct mem_file *f = names_find_locked(d, from);
	struct mem_file *other = names_find_locked(d, to);

	*gone = NULL;
	if (!f || (!other && (flags & RENAME_EXCHANGE)))
		return -ENOENT;
	if (other && (flags & RENAME_NOREPLACE))
		return -EEXIST;
	if (other == f)
		return 0;
	if (flags & RENAME_EXCHANGE) {
		exchange_locked(f, other);
	} else {
		if (other)
			remove_locked(other);
		*gone = other;
		clear_name_locked(f);
		set_name_locked(f, to);
		f->ctime_ns = file_now_ns();
	}
	commit_change_locked(d);
	return 0;
}

int mem_rename(struct mem *m, unsigned int die, const char *from,
	       const char *to, unsigned int flags)
{
	struct mem_die *d = die_of(m, die);
	struct mem_file *gone;
	int ret = d ? names_check(to) : -ENOENT;

	if (!ret && flags && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE)
		ret = -EINVAL;
	if (ret)
		return ret;
	pthread_mutex_lock(&d->lock);
	ret = rename_locked(d, from, to, flags, &gone);
	pthread_mutex_unlock(&d->lock);
	if (!ret)
		ret = commit_now(d);
	if (gone)
		mem_put(gone);
	return ret;
}

bool mem_next(struct mem *m, unsigned int die, uint64_t *cursor,
	      char name[MEM_NAME_MAX + 1], uint64_t *ino)
{
	struct mem_die *d = die_of(m, die);
	struct mem_file *f = NULL;
	size_t i;

	if (!d)
		return false;
	pthread_mutex_lock(&d->lock);
	i = find_number_locked(d, *cursor + 1);
	while (i < d->n_files && !*d->files[i]->name)
		i++;
	if (i < d->n_files) {
		f = d->files[i];
		strcpy(name, f->name);
		*ino = mem_ino(f);
		*cursor = f->number;
	}
	pthread_mutex_unlock(&d->lock);
	return f;
}
