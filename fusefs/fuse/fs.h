/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that speak FUSE share: the mounted tree and its open files.
 */
#ifndef K80FS_FS_H
#define K80FS_FS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "engine/io.h"
#include "options.h"
#include "sched/sched.h"
#include "text/node.h"
#include "text/status.h"
#include "text/uring.h"

struct fuse_args;
struct fuse_conn_info;
struct fuse_session;
struct fuse_lowlevel_ops;
struct fuse_file_info;
struct fuse_req;
struct fuse_pollhandle;
struct compute;

/* what chmod, chown and utimens can change */
struct fs_attr {
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime, mtime, ctime;
};

/**
 * struct fs_watch - an open status file somebody polls
 * @next:   next watcher of the same tree
 * @handle: to be notified once; NULL if nobody waits now
 * @seen:   fingerprint at this file's snapshot
 */
struct fs_watch {
	struct fs_watch *next;
	int die; /* -1 for the root's */
	struct fuse_pollhandle *handle;
	uint64_t seen;
};

/**
 * struct fs_inval - pages to be dropped from the page cache
 * @len:  bytes, 0 for all of the file
 * @then: called by the thread that did it
 */
struct fs_inval {
	struct fs_inval *next;
	uint64_t ino;
	off_t off;
	off_t len;
	void (*then)(struct fs_inval *job);
};

/**
 * struct fs_error - the newest error of a die, from whichever layer
 * @device:     the backend's last_error when we looked last
 * @note_count: refusals of the scheduler when we looked last
 * @is_note:    the scheduler's is the newer one
 * @seq:        orders the errors of different dies; 0 for none
 */
struct fs_error {
	char device[256];
	uint64_t note_count;
	bool is_note;
	uint64_t seq;
};

/**
 * struct fs_uring - the transport beside /dev/fuse
 * @depth:   entries of each queue, 0: not asked for, or cannot be had
 * @queues:  one for each thread of libfuse's that runs a ring; @n_queues
 * @is_live: a request has come through a ring
 */
struct fs_uring {
	unsigned int depth;
	struct uring_queue *queues;
	atomic_uint n_queues;
	_Atomic bool is_live;
	pthread_mutex_t lock;
	bool is_leaving; /* under lock: copy threads take no more */
};

struct fs {
	const struct options *opts;
	struct fuse_session *se;
	struct backend be;
	struct io_engine io;
	struct compute *compute; /* NULL: not asked for */
	struct node_table nodes; /* immutable */
	bool is_announced; /* whoever started us knows that it works */
	const char *_Atomic transport;
	struct fs_uring uring;

	pthread_mutex_t attr_lock;
	struct fs_attr attrs[NODE_TABLE_LEN]; /* under attr_lock */

	unsigned int proto_minor; /* of the kernel's FUSE protocol 7.x */
	_Atomic bool has_pages[NODE_TABLE_LEN]; /* read through the page cache */
	pthread_mutex_t inval_lock;
	pthread_cond_t inval_wake;
	struct fs_inval *inval_head; /* under inval_lock, as the next two */
	struct fs_inval **inval_tail;
	bool is_inval_stopping;
	pthread_t inval_thread;

	pthread_mutex_t error_lock;
	struct fs_error errors[BACKEND_MAX_DIES]; /* under error_lock */
	uint64_t error_seq; /* under error_lock */

	pthread_mutex_t watch_lock;
	struct fs_watch *watches; /* under watch_lock, and their fields */
	pthread_t watch_thread;
	int watch_fd; /* eventfd: look again */
	bool is_stopping;
};

/**
 * struct fs_module - PTX that is being written
 * @is_changed: since it was loaded
 */
struct fs_module {
	char *text;
	size_t len;
	size_t room;
	bool is_changed;
};

/**
 * struct fs_file - an open file
 * @io:   vram and resmem
 * @hold: ctl: the lease this open file took
 * @text: status and texts of compute: the snapshot; @text_len; @text_lock
 *        guards them and @module
 */
struct fs_file {
	const struct node *node;
	int flags;
	struct io_file io;
	struct sched_hold hold;
	pthread_mutex_t text_lock;
	char *text;
	size_t text_len;
	struct fs_module module; /* compute/module */
	struct fs_watch watch;
};

/* fs_ops.c */
extern const struct fuse_lowlevel_ops fs_ops;

/* fs_loop.c: serve until unmounted or told to stop; 0 or -errno */
int fs_loop(struct fs *fs);

/* fs_dir.c */
void fs_attr_init(struct fs *fs);
void fs_attr_touch(struct fs *fs, uint64_t ino);
void fs_lookup(struct fuse_req *req, uint64_t parent, const char *name);
void fs_getattr(struct fuse_req *req, uint64_t ino, struct fuse_file_info *fi);
void fs_setattr(struct fuse_req *req, uint64_t ino, struct stat *st, int mask,
		struct fuse_file_info *fi);
void fs_readlink(struct fuse_req *req, uint64_t ino);
void fs_readdir(struct fuse_req *req, uint64_t ino, size_t size, off_t off,
		struct fuse_file_info *fi);
void fs_statfs(struct fuse_req *req, uint64_t ino);

/* fs_vram.c: requests on vram and resmem */
void fs_vram_read(struct fuse_req *req, struct fs_file *f, size_t size,
		  off_t off);
void fs_vram_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		   size_t size, off_t off);
void fs_vram_fallocate(struct fuse_req *req, struct fs_file *f, int mode,
		       off_t off, off_t len);
void fs_vram_copy(struct fuse_req *req, struct fs_file *in, off_t off_in,
		  struct fs_file *out, off_t off_out, size_t len);
void fs_vram_sync(struct fuse_req *req, struct fs_file *f, bool is_close);
uint64_t fs_vram_len(const struct fs *fs, const struct node *n);

/* fs_inval.c */
int fs_inval_start(struct fs *fs);
void fs_inval_stop(struct fs *fs);
bool fs_inval_needed(struct fs *fs, uint64_t ino, bool is_write);
void fs_inval_queue(struct fs *fs, struct fs_inval *job);

/* fs_ctl.c */
void fs_ctl_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		  size_t size);

/* fs_compute.c */
uint64_t fs_compute_len(struct fs *fs, const struct node *n);
int fs_compute_snapshot(struct fs *fs, struct fs_file *f);
void fs_compute_read(struct fuse_req *req, struct fs_file *f, size_t size,
		     off_t off);
void fs_compute_write(struct fuse_req *req, struct fs_file *f, const char *buf,
		      size_t size, off_t off);
void fs_compute_flush(struct fuse_req *req, struct fs_file *f);

/* fs_status.c */
int fs_status_start(struct fs *fs);
void fs_status_stop(struct fs *fs);
size_t fs_status_text(struct fs *fs, int die, char *buf);
void fs_status_snapshot(struct fs *fs, struct fs_file *f);
void fs_status_poll(struct fuse_req *req, struct fs_file *f,
		    struct fuse_pollhandle *ph);
void fs_status_forget(struct fs *fs, struct fs_file *f);
void fs_status_changed(void *fs);

/**
 * struct fs_call - a FUSE request under way in the engine
 * @io:    first: what the engine runs
 * @buf:   data kept while it is parked
 * @ino:   the file that a success changes, 0 for none; @inval: its pages
 * @queue: io_uring's queue it came through, NULL for /dev/fuse; @is_waiting:
 *         it is counted there
 */
struct fs_call {
	struct io io;
	struct fuse_req *req;
	struct fs *fs;
	void *buf;
	struct uring_queue *queue;
	bool is_waiting;
	struct pool_work work;
	uint64_t ino;
	bool is_armed;
	ssize_t result;
	struct fs_inval inval;
	void (*reply)(struct fs_call *call, ssize_t result, const void *data);
};

/* fs_call.c: between a FUSE request and the engine */
struct fs_call *fs_call_new(struct fuse_req *req, enum io_op op,
			    struct io_file *file);
void fs_call_submit(struct fs_call *call);
void fs_call_arm(struct fs_call *call);
void fs_call_disarm(struct fs_call *call);

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

/**
 * fs_uring_hand_over() - have a copy thread submit a long request
 * Return: true if it was taken, or has been answered.
 */
bool fs_uring_hand_over(struct fs_call *call);

/** fs_uring_leave() - from here on nothing is handed over */
void fs_uring_leave(struct fs *fs);

/** fs_uring_stop() - give the rings back: every request was answered */
void fs_uring_stop(struct fs *fs);

#endif /* K80FS_FS_H */
