/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests on vram and resmem: each ends in one reply. */
#ifndef K80FS_FUSE_VRAM_H
#define K80FS_FUSE_VRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;
struct fs_file;
struct fuse_req;

/* @flags: of this request, as open(2) has them; @fills: the page cache asks */
void fs_vram_read(struct fuse_req *req, struct fs_file *f, size_t size,
		  off_t off, int flags, bool fills);
void fs_vram_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		   size_t size, off_t off, int flags);
void fs_vram_fallocate(struct fuse_req *req, struct fs_file *f, int mode,
		       off_t off, off_t len);
void fs_vram_copy(struct fuse_req *req, struct fs_file *in, off_t off_in,
		  struct fs_file *out, off_t off_out, size_t len);
void fs_vram_sync(struct fuse_req *req, struct fs_file *f, bool is_close);

/**
 * fs_vram_resize() - it was truncated: a new image, or the size of one
 * @size: inside the file
 * Return: bytes from the start of the file on that are as they were.
 */
uint64_t fs_vram_resize(struct fs *fs, struct fs_file *f, uint64_t size);

/**
 * fs_vram_finish() - the file was closed: clear what its image left out
 * @done: called once, at once if there is nothing to do
 */
void fs_vram_finish(struct fs *fs, struct fs_file *f,
		    void (*done)(struct fs *fs, struct fs_file *f));

#endif /* K80FS_FUSE_VRAM_H */
