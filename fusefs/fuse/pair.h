/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which open file a truncation belongs to.
 *
 * The kernel strips O_TRUNC from an OPEN and sends a SETATTR of size 0 without
 * a handle after it, from the same thread and with nothing in between. A
 * truncation by path looks the same, but is preceded by a look at the
 * attributes. So the newest open of each thread is remembered until that
 * thread asks for anything else.
 */
#ifndef K80FS_FUSE_PAIR_H
#define K80FS_FUSE_PAIR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fuse_req;

#define FS_PAIR_BUCKETS 64

/** struct fs_pair - in an open file; all under the lock of struct fs_pairs */
struct fs_pair {
	struct fs_pair *next;
	pid_t pid; /* 0: not listed */
	uint64_t ino;
};

/** struct fs_pairs - of a mount; starts zeroed, with its lock initialised */
struct fs_pairs {
	pthread_mutex_t lock;
	atomic_uint n;
	struct fs_pair *buckets[FS_PAIR_BUCKETS];
};

/** fs_pair_add() - before an OPEN that may be for writing is answered */
void fs_pair_add(struct fs_pairs *all, struct fs_pair *pair,
		 struct fuse_req *req, uint64_t ino);

/** fs_pair_forget() - any request but OPEN and SETATTR */
void fs_pair_forget(struct fs_pairs *all, struct fuse_req *req);

/** fs_pair_remove() - the file goes */
void fs_pair_remove(struct fs_pairs *all, struct fs_pair *pair);

/**
 * fs_pair_take() - a SETATTR of @ino: the file that its thread has just opened
 * @is_trunc: it looks like one that belongs to an open
 *
 * A file that a thread of the kernel opened is that of its clients (NFS): none
 * of them truncates it for the others.
 *
 * Return: the pair, which is not listed any more, or NULL. Its file stays open
 * until the SETATTR is answered.
 */
struct fs_pair *fs_pair_take(struct fs_pairs *all, struct fuse_req *req,
			     uint64_t ino, bool is_trunc);

#endif /* K80FS_FUSE_PAIR_H */
