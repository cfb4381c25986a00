/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests on names and attributes. Nothing here waits for hardware. */
#ifndef K80FS_FUSE_DIR_H
#define K80FS_FUSE_DIR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fuse_file_info;
struct fuse_req;
struct stat;

void fs_lookup(struct fuse_req *req, uint64_t parent, const char *name);
void fs_getattr(struct fuse_req *req, uint64_t ino, struct fuse_file_info *fi);
void fs_setattr(struct fuse_req *req, uint64_t ino, struct stat *st, int mask,
		struct fuse_file_info *fi);
void fs_readlink(struct fuse_req *req, uint64_t ino);
void fs_readdir(struct fuse_req *req, uint64_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void fs_statfs(struct fuse_req *req, uint64_t ino);

#endif /* K80FS_FUSE_DIR_H */
