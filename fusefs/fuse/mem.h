/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests on the mem folders and their files: each is worked on by the thread
 * that read it, and ends in one reply. Their inode numbers are those that
 * mem_is_ino() knows; the folder itself is a node of the fixed tree.
 */
#ifndef K80FS_FUSE_MEM_H
#define K80FS_FUSE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fs;
struct fs_file;
struct fuse_entry_param;
struct fuse_file_info;
struct fuse_req;
struct node;
struct stat;

/** fs_mem_folder() - the folder with that inode number; NULL: it is another */
const struct node *fs_mem_folder(struct fs *fs, uint64_t ino);

/* Names. @dir: of fs_mem_folder() */
void fs_mem_lookup(struct fuse_req *req, const struct node *dir,
		   const char *name);
void fs_mem_lookup_ino(struct fuse_req *req, uint64_t ino, const char *name);
void fs_mem_forget(struct fs *fs, uint64_t ino, uint64_t n);
void fs_mem_mknod(struct fuse_req *req, const struct node *dir,
		  const char *name, mode_t mode);
void fs_mem_unlink(struct fuse_req *req, const struct node *dir,
		   const char *name);
void fs_mem_rename(struct fuse_req *req, const struct node *dir,
		   const char *name, const struct node *new_dir,
		   const char *new_name, unsigned int flags);
void fs_mem_readdir(struct fuse_req *req, const struct node *dir, size_t size,
		    off_t off);
void fs_mem_statfs(struct fuse_req *req, unsigned int die);

/**
 * fs_mem_make() - for CREATE: make a file, or find it
 * @e: out: the entry, which counts on the file
 * Return: 0 or -errno.
 */
int fs_mem_make(struct fuse_req *req, const struct node *dir, const char *name,
		mode_t mode, int flags, struct fuse_entry_param *e);

/* Attributes, by number. */
void fs_mem_getattr(struct fuse_req *req, uint64_t ino);
void fs_mem_setattr(struct fuse_req *req, uint64_t ino, const struct stat *st,
		    int mask);

/**
 * fs_mem_open() - @f is an open file of it
 * Return: 0; -ENOENT there is none of that number; -ENOMEM.
 */
int fs_mem_open(struct fs *fs, struct fs_file *f, uint64_t ino);

/** fs_mem_close() - nobody has @f open any more */
void fs_mem_close(struct fs_file *f);

/* Open files: f->mem is set. */
void fs_mem_read(struct fuse_req *req, struct fs_file *f, size_t size,
		 off_t off, bool is_cached);
void fs_mem_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		  size_t size, off_t off, int flags);
void fs_mem_sync(struct fuse_req *req, struct fs_file *f, bool is_close);
void fs_mem_fallocate(struct fuse_req *req, struct fs_file *f, int mode,
		      off_t off, off_t len);
void fs_mem_lseek(struct fuse_req *req, struct fs_file *f, off_t off, int whence);

/** fs_mem_copy() - one of them at least is of a mem folder, the other vram */
void fs_mem_copy(struct fuse_req *req, struct fs_file *in, off_t off_in,
		 struct fs_file *out, off_t off_out, size_t len);

#endif /* K80FS_FUSE_MEM_H */
