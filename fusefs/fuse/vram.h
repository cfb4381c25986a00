/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests on vram and resmem: each ends in one reply. */
#ifndef K80FS_FUSE_VRAM_H
#define K80FS_FUSE_VRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fs_file;
struct fuse_req;

/* @flags: of this request, as open(2) has them */
void fs_vram_read(struct fuse_req *req, struct fs_file *f, size_t size,
		  off_t off, int flags);
void fs_vram_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		   size_t size, off_t off, int flags);
void fs_vram_fallocate(struct fuse_req *req, struct fs_file *f, int mode,
		       off_t off, off_t len);
void fs_vram_copy(struct fuse_req *req, struct fs_file *in, off_t off_in,
		  struct fs_file *out, off_t off_out, size_t len);
void fs_vram_sync(struct fuse_req *req, struct fs_file *f, bool is_close);

#endif /* K80FS_FUSE_VRAM_H */
