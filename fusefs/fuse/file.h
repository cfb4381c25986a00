/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files: from OPEN to RELEASE, or to the end of a connection whose last
 * RELEASE is never read: the kernel drops what waits in its queue when the last
 * user of the mount has gone, or when it is told to abort.
 */
#ifndef K80FS_FUSE_FILE_H
#define K80FS_FUSE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fuse/fs.h"
#include "text/metrics.h"

#define FS_TEXT_MAX METRICS_MAX /* the longest of fs_file_is_text() */

static inline bool fs_file_is_memory(const struct fs_file *f)
{
	return f->node->kind == NODE_VRAM || f->node->kind == NODE_RESMEM;
}

static inline bool fs_file_is_status(const struct fs_file *f)
{
	return f->node->kind == NODE_STATUS || f->node->kind == NODE_ROOT_STATUS;
}

/* a text of which an open file has a snapshot */
static inline bool fs_file_is_text(const struct fs_file *f)
{
	return fs_file_is_status(f) || f->node->kind == NODE_METRICS;
}

void fs_files_init(struct fs *fs);

/**
 * fs_file_new() - open @n
 * @ino:   @n's own number; that of a file, if @n is a mem folder
 * @flags: of open(2); @uid: who opens
 *
 * Return: 0; -ENXIO a die that does not answer; -ENFILE too many texts are open
 * by strangers; -ENOMEM.
 */
int fs_file_new(struct fs *fs, const struct node *n, uint64_t ino, int flags,
		uid_t uid, struct fs_file **out);

/** fs_file_snapshot() - of a text, as of now */
void fs_file_snapshot(struct fs *fs, struct fs_file *f);

/** fs_file_drop() - nobody has heard of it: its OPEN could not be answered */
void fs_file_drop(struct fs *fs, struct fs_file *f);

/** fs_file_close() - it was closed: clear what its image left out, then free it */
void fs_file_close(struct fs *fs, struct fs_file *f);

/**
 * fs_files_finish() - nothing is opened or closed any more: clear what the
 * images of all files left out
 * @until: as now_ns(), at most so long
 */
void fs_files_finish(struct fs *fs, uint64_t until);

/** fs_files_free() - no request of any file is left: what is still open goes */
void fs_files_free(struct fs *fs);

#endif /* K80FS_FUSE_FILE_H */
