/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this folder share.
 *
 * Lock order: two files' locks by inode number; then the die's commit_lock;
 * then the mount's keep_lock; then a die's lock; then a file's reader_lock.
 */
#ifndef K80FS_MEM_PRIV_H
#define K80FS_MEM_PRIV_H

#include <pthread.h>

#include "keeper/client.h"
#include "mem/extent.h"
#include "mem/mem.h"
#include "mem/table.h"

#define MEM_BUCKETS 4096 /* of names */

/**
 * struct mem_chunk - a piece of device memory
 * @prev, @next: of all that the keeper has of this die; under keep_lock
 * @id:    in its pool
 * @off:   in its file; immutable, as is its length
 * @chunk: mapped at @off of the file's extent; under the file's lock
 */
struct mem_chunk {
	struct mem_chunk *prev, *next;
	uint64_t id;
	uint64_t off;
	struct backend_chunk chunk;
};

static inline uint64_t chunk_end(const struct mem_chunk *c)
{
	return c->off + c->chunk.len;
}

/**
 * struct mem_file - a file
 * @next:   of the same bucket; name, nlink, mode, uid, gid, refs are under the
 *          die's lock, too
 * @refs:   a name counts as one
 * @lock:   read: the bytes of chunks and what is below the length; write: the
 *          chunks, where they are, the length
 * @chunks: in order; changes under @lock and the die's lock, so that either
 *          is enough to look at it; @room: of it
 * @len:    changes under @lock for write
 * @has_old_tail: bytes behind the length may be other than zero: another
 *          program has the chunks, or a daemon before had them. Under @lock
 * @is_shared: other programs have, or had, its memory: what is read ahead may
 *          be old, and a write is answered when it has reached the device;
 *          set under @lock
 * @readers: under @reader_lock
 */
struct mem_file {
	struct mem_die *d;
	uint64_t number; /* of its pool */
	struct mem_file *next;
	char name[MEM_NAME_MAX + 1]; /* "": it has none any more */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t refs;
	_Atomic int64_t atime_ns, mtime_ns, ctime_ns;
	_Atomic bool mark;

	pthread_rwlock_t lock;
	struct extent *extent; /* NULL: no chunk */
	struct mem_chunk **chunks;
	unsigned int n_chunks, room;
	_Atomic uint64_t len;
	bool has_old_tail;
	_Atomic bool is_shared;

	pthread_mutex_t reader_lock;
	struct mem_reader *readers;
};

/**
 * struct mem_reader - an open file
 * @from, @to: of the die's space: what may be read ahead. Under the file's
 *             reader_lock
 */
struct mem_reader {
	struct mem_reader *next;
	struct mem_file *f;
	void *reader;
	uint64_t from, to;
};

/**
 * struct mem_die - a die's folder
 * @why:     why there is none, "" if there is; immutable, as are @uuid, @table
 * @files:   in the order of their numbers, those without a name too
 * @space:   where files are mapped
 * @n_named: files that have a name; @n_named_chunks: of these
 * @n_leaving: files that are being freed; @left: one was
 * @bytes:   of all chunks
 * @changes: counts what the table is to tell
 * @committed: as many of them it tells; under commit_lock
 * @is_unsynced: a length was set behind bytes that may still be on their way
 * @grown:   bytes written behind ends since the last commit
 * @held:    chunks that the keeper has; under keep_lock
 */
struct mem_die {
	struct mem *m;
	struct backend *be;
	unsigned int die;
	char uuid[KEEPER_UUID_LEN];
	char why[320];
	void *table;
	int table_fd;
	uint64_t max_len;
	uint64_t unit;
	uint64_t lost; /* immutable after start */

	pthread_mutex_t commit_lock; /* one commit at a time */
	uint64_t committed;
	_Atomic bool is_unsynced;
	_Atomic uint64_t grown;
	_Atomic bool has_no_fd; /* was logged */
	_Atomic bool is_dirty; /* to be committed soon */
	bool has_failed; /* the last commit did; under commit_lock */

	struct mem_chunk *held;
	int anchor; /* the driver's node of this device, -1 for none */

	pthread_mutex_t lock; /* guards the rest */
	struct mem_file *buckets[MEM_BUCKETS];
	struct mem_file **files;
	size_t n_files, room;
	size_t n_named, n_named_chunks;
	unsigned int n_leaving;
	pthread_cond_t left;
	uint64_t bytes;
	struct extents space;
	uint64_t next_number, next_chunk_id;
	uint64_t changes;
};

/**
 * struct mem - all dies
 * @keep_lock: guards @keeper, and @held of every die
 * @keeper_pid: 0: there is none
 * @wake:      eventfd of the thread that tends
 */
struct mem {
	struct backend *be;
	unsigned int n_dies;
	char keeper_path[108];
	_Atomic pid_t keeper_pid;
	pthread_mutex_t keep_lock;
	struct keeper *keeper;
	int wake;
	_Atomic bool is_stopping;
	bool is_tended;
	pthread_t tender;
	struct mem_die dies[BACKEND_MAX_DIES];
};

#endif /* K80FS_MEM_PRIV_H */
