/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transport beside /dev/fuse: FUSE over io_uring. */
#ifndef K80FS_FUSE_URING_H
#define K80FS_FUSE_URING_H

#include <stdbool.h>

struct fs;
struct fs_call;
struct fuse_args;
struct fuse_conn_info;
struct fuse_req;

/**
 * fs_uring_is_possible() - whether this program with this libfuse can use it
 */
bool fs_uring_is_possible(void);

/**
 * fs_uring_choose() - decide, with the backend open and before the mount
 * @args: out: what libfuse must know is added
 *
 * Says on the log why it is not used if the user asked for it.
 *
 * Return: 0; -ENOMEM.
 */
int fs_uring_choose(struct fs *fs, struct fuse_args *args);

/** fs_uring_init() - in the init handler */
void fs_uring_init(struct fs *fs, struct fuse_conn_info *conn);

/** fs_uring_note() - a request that comes through a ring shows it is live */
void fs_uring_note(struct fs *fs, struct fuse_req *req);

/** fs_uring_call() - before it is submitted for the first time */
void fs_uring_call(struct fs_call *call);

/**
 * fs_uring_wait() - before a request is left to wait
 * Return: 0; -EBUSY too many do in its queue; -EXDEV the same for a copy.
 */
int fs_uring_wait(struct fs_call *call);

/** fs_uring_answered() - after the answer */
void fs_uring_answered(struct fs_call *call);

/** fs_uring_stop() - give the rings back: every request was answered */
void fs_uring_stop(struct fs *fs);

#endif /* K80FS_FUSE_URING_H */
