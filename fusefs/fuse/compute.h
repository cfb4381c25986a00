/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests on the compute folders: each ends in one reply. */
#ifndef K80FS_FUSE_COMPUTE_H
#define K80FS_FUSE_COMPUTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;
struct fs_file;
struct fuse_req;
struct node;

uint64_t fs_compute_len(struct fs *fs, const struct node *n);

/** fs_compute_logged() - of struct compute_config: the log was written to now */
void fs_compute_logged(void *fs, unsigned int die);

int fs_compute_snapshot(struct fs *fs, struct fs_file *f);
/* @flags: of this request, as open(2) has them */
void fs_compute_read(struct fuse_req *req, struct fs_file *f, size_t size,
		     off_t off, int flags);
void fs_compute_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		      size_t size, off_t off, int flags);
void fs_compute_flush(struct fuse_req *req, struct fs_file *f);

#endif /* K80FS_FUSE_COMPUTE_H */
