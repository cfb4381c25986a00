/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that make, rename and remove: all but CREATE, which opens, too. */
#ifndef K80FS_FUSE_CHANGE_H
#define K80FS_FUSE_CHANGE_H

#include <stdint.h>
#include <sys/types.h>

struct fuse_req;

void fs_mknod(struct fuse_req *req, uint64_t parent, const char *name,
	      mode_t mode, dev_t rdev);
void fs_mkdir(struct fuse_req *req, uint64_t parent, const char *name,
	      mode_t mode);
void fs_symlink(struct fuse_req *req, const char *target, uint64_t parent,
		const char *name);
void fs_unlink(struct fuse_req *req, uint64_t parent, const char *name);
void fs_rmdir(struct fuse_req *req, uint64_t parent, const char *name);
void fs_rename(struct fuse_req *req, uint64_t parent, const char *name,
	       uint64_t new_parent, const char *new_name, unsigned int flags);
void fs_link(struct fuse_req *req, uint64_t ino, uint64_t new_parent,
	     const char *new_name);

#endif /* K80FS_FUSE_CHANGE_H */
