/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"

/* more than the table needs for a name, and for a chunk */
#define FILE_ROOM  512
#define CHUNK_ROOM sizeof(struct mem_table_chunk)

bool commit_has_room_locked(const struct mem_die *d, unsigned int files,
			    unsigned int chunks)
{
	return (d->n_named + files) * FILE_ROOM +
		       (d->n_named_chunks + chunks) * CHUNK_ROOM <=
	       MEM_TABLE_COPY_BYTES - MEM_TABLE_HEAD_BYTES;
}

void commit_change_locked(struct mem_die *d)
{
	d->changes++;
}

static int add_file_locked(struct mem_die *d, const struct mem_file *f,
			   struct mem_table_chunk *chunks)
{
	struct mem_table_file t = {
		.ino = f->number,
		.len = f->len,
		.mode = f->mode | (f->is_shared ? MEM_TABLE_SHARED : 0),
		.uid = f->uid,
		.gid = f->gid,
		.mtime_ns = f->mtime_ns,
		.ctime_ns = f->ctime_ns,
		.atime_ns = f->atime_ns,
		.n_chunks = f->n_chunks,
		.chunks = chunks,
	};

	strcpy(t.name, f->name);
	for (unsigned int i = 0; i < f->n_chunks; i++)
		chunks[i] = (struct mem_table_chunk){
			.off = f->chunks[i]->off,
			.len = f->chunks[i]->chunk.len,
			.id = f->chunks[i]->id,
		};
	return mem_table_add(d->table, &t);
}

static unsigned int most_chunks_locked(const struct mem_die *d)
{
	unsigned int most = 0;

	for (size_t i = 0; i < d->n_files; i++)
		most = MAX(most, d->files[i]->n_chunks);
	return most;
}

/* @seq: out: the changes that the copy tells of */
static int fill_locked(struct mem_die *d, uint64_t *seq)
{
	struct mem_table_head head = {
		.next_ino = d->next_number,
		.next_chunk_id = d->next_chunk_id,
	};
	struct mem_table_chunk *chunks;
	int ret = 0;

	chunks = malloc((most_chunks_locked(d) + 1) * sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	mem_table_begin(d->table, &head);
	for (size_t i = 0; !ret && i < d->n_files; i++)
		if (*d->files[i]->name)
			ret = add_file_locked(d, d->files[i], chunks);
	*seq = d->changes;
	free(chunks);
	return ret;
}

/* Under commit_lock. */
static int commit_locked(struct mem_die *d)
{
	bool is_unsynced;
	uint64_t seq;
	int ret;

	d->is_dirty = false;
	d->grown = 0;
	pthread_mutex_lock(&d->lock);
	ret = fill_locked(d, &seq);
	pthread_mutex_unlock(&d->lock);
	if (ret)
		goto out;
	/* after the lengths were looked at: each was set behind its bytes */
	is_unsynced = atomic_exchange(&d->is_unsynced, false);
	if (is_unsynced)
		ret = backend_sync(d->be, d->die);
	if (ret) {
		d->is_unsynced = true;
		goto out;
	}
	mem_table_commit(d->table);
	d->committed = seq;
out:
	if (ret && !d->has_failed)
		log_err("mem: die=%u the table stays as it was: %s", d->die,
			strerror(-ret));
	d->has_failed = ret;
	if (ret)
		d->is_dirty = true;
	return ret == -EINVAL ? -EIO : ret;
}

int commit_now(struct mem_die *d)
{
	uint64_t wanted;
	int ret = 0;

	pthread_mutex_lock(&d->lock);
	wanted = d->changes;
	pthread_mutex_unlock(&d->lock);
	pthread_mutex_lock(&d->commit_lock);
	/* somebody else's may have told of ours */
	if (d->committed < wanted || d->is_dirty)
		ret = commit_locked(d);
	pthread_mutex_unlock(&d->commit_lock);
	return ret;
}

void commit_wake(struct mem *m)
{
	uint64_t one = 1;

	/* can only fail when it would count past 2^64: it is awake then */
	if (write(m->wake, &one, sizeof(one)) < 0)
		return;
}

void commit_soon(struct mem_die *d, uint64_t grown)
{
	uint64_t before = atomic_fetch_add(&d->grown, grown);
	bool is_much =
		before < COMMIT_GROWN_MAX && before + grown >= COMMIT_GROWN_MAX;

	if (!atomic_exchange(&d->is_dirty, true) || is_much)
		commit_wake(d->m);
}
