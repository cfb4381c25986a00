/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dropping pages from the page cache, on a thread that may wait for them. */
#ifndef K80FS_FUSE_INVAL_H
#define K80FS_FUSE_INVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;

/**
 * struct fs_inval - pages to be dropped from the page cache
 * @len:  bytes, 0 for all of the file
 * @then: called by the thread that did it
 */
struct fs_inval {
	struct fs_inval *next;
	uint64_t ino;
	off_t off;
	off_t len;
	void (*then)(struct fs_inval *job);
};

int fs_inval_start(struct fs *fs);
void fs_inval_stop(struct fs *fs);
bool fs_inval_needed(struct fs *fs, uint64_t ino, bool is_write);
void fs_inval_queue(struct fs *fs, struct fs_inval *job);

#endif /* K80FS_FUSE_INVAL_H */
