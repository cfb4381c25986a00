/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dropping pages from the page cache, on a thread that may wait for them. */
#ifndef K80FS_FUSE_INVAL_H
#define K80FS_FUSE_INVAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;
struct fuse_req;

/**
 * struct fs_inval - pages to be dropped from the page cache
 * @len:  bytes, 0 for all of the file
 * @until: as now_ns(): then it waits for no fill any more, see fs_inval_park()
 * @then: called by the thread that did it
 */
struct fs_inval {
	struct fs_inval *next;
	uint64_t ino;
	off_t off;
	off_t len;
	uint64_t until;
	void (*then)(struct fs_inval *job);
};

/**
 * struct fs_inval_die - all pages of one die's memory: vram and resmem
 * @then: called by the thread that did the last of them
 */
struct fs_inval_die {
	struct fs_inval_part {
		struct fs_inval job;
		struct fs_inval_die *all;
	} parts[2];
	atomic_uint n_left;
	void (*then)(struct fs_inval_die *all);
};

int fs_inval_start(struct fs *fs);
void fs_inval_stop(struct fs *fs);

/** fs_inval_needed() - whether the file may have pages at all */
bool fs_inval_needed(struct fs *fs, uint64_t ino);

void fs_inval_queue(struct fs *fs, struct fs_inval *job);

/**
 * fs_inval_park() - a read that fills pages of @ino is parked: they are locked
 * until fs_inval_unpark(), after its answer
 *
 * Whoever drops pages of that file waits for it here, for as long as a hold may
 * keep it waiting: in the kernel that wait would also keep all others, and the
 * daemon could not even be killed. Pages that are filled without a wait, or are
 * asked for meanwhile, are the kernel's to wait for.
 */
void fs_inval_park(struct fs *fs, uint64_t ino);
void fs_inval_unpark(struct fs *fs, uint64_t ino);

/**
 * fs_inval_answer() - drop pages that read in another way now, then answer
 * @from, @to: bytes of the file, none if @from is not below @to
 * @answer:    called once, at once if there is nothing to drop
 */
void fs_inval_answer(struct fs *fs, uint64_t ino, uint64_t from, uint64_t to,
		     struct fuse_req *req,
		     void (*answer)(struct fuse_req *req, uint64_t ino));

/**
 * fs_inval_die() - drop the pages of a die whose memory has changed
 * @all: the caller's until @then
 *
 * Return: false: there are none, and @then will not be called.
 */
bool fs_inval_die(struct fs *fs, int die, struct fs_inval_die *all,
		  void (*then)(struct fs_inval_die *all));

#endif /* K80FS_FUSE_INVAL_H */
