/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes to ctl: each ends in one reply. */
#ifndef K80FS_FUSE_CTL_H
#define K80FS_FUSE_CTL_H

#include <stddef.h>

struct fs_file;
struct fuse_req;

/** fs_ctl_write() - @flags: of this request, as open(2) has them */
void fs_ctl_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		  size_t size, int flags);

/** fs_ctl_flush() - a close: what is left of a line runs, and answers it */
void fs_ctl_flush(struct fuse_req *req, struct fs_file *f);

#endif /* K80FS_FUSE_CTL_H */
