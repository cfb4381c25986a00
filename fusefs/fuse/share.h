/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of files for other programs and for kernels. */
#ifndef K80FS_FUSE_SHARE_H
#define K80FS_FUSE_SHARE_H

struct fs;
struct fs_file;
struct fuse_req;
struct owner_memory;

/**
 * fs_share_start() - listen for programs that want memory
 *
 * Without it, or where it fails, which is logged, there are files, but nobody
 * can map them. Needs fs->mem; NULL: does nothing.
 */
void fs_share_start(struct fs *fs);

/** fs_share_stop() - before mem_stop() */
void fs_share_stop(struct fs *fs);

/** fs_share_ioctl() - on an open file of a mem folder: K80_SHARE, K80_WHERE */
void fs_share_ioctl(struct fuse_req *req, struct fs_file *f, unsigned int cmd);

/** fs_share_memory() - of struct compute_config */
int fs_share_memory(void *fs, unsigned int die, const char *name,
		    struct owner_memory *out);

#endif /* K80FS_FUSE_SHARE_H */
