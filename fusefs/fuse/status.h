/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of status, and who polls them. */
#ifndef K80FS_FUSE_STATUS_H
#define K80FS_FUSE_STATUS_H

#include <stddef.h>

struct fs;
struct fs_file;
struct fuse_pollhandle;
struct fuse_req;
struct node;

int fs_status_start(struct fs *fs);

/**
 * fs_status_watch() - look at every change; the scheduler and what computes
 * have been started, and are not freed before fs_status_stop()
 * Return: 0 or -errno.
 */
int fs_status_watch(struct fs *fs);

void fs_status_stop(struct fs *fs);

/** fs_status_note() - the times of a status file are up to date afterwards */
void fs_status_note(struct fs *fs, const struct node *n);

size_t fs_status_text(struct fs *fs, int die, char *buf);
void fs_status_snapshot(struct fs *fs, struct fs_file *f);
void fs_status_poll(struct fuse_req *req, struct fs_file *f,
		    struct fuse_pollhandle *ph);
void fs_status_forget(struct fs *fs, struct fs_file *f);
void fs_status_changed(void *fs);

#endif /* K80FS_FUSE_STATUS_H */
