/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether who waits was interrupted by a signal.
 *
 * The kernel sends one INTERRUPT for a request when its thread is woken from an
 * interruptible wait. That is a signal, or work of the thread's own io_uring
 * ring (TIF_NOTIFY_SIGNAL, Linux 5.10 and later), or a debugger that attaches;
 * only for a signal may the request end with EINTR, as no program expects it
 * from the others. The thread's pending signals tell: they stay pending until
 * the request is answered. As there is no second INTERRUPT, one that was none
 * is looked at again while its request lasts.
 */
#ifndef K80FS_FUSE_INTERRUPT_H
#define K80FS_FUSE_INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct fs;
struct fuse_req;

/**
 * struct fs_interrupt - of one request; lives in its call
 * @tell: a signal came: any thread, with locks held; must not wait
 * @tid:  the thread that waits, 0 if it cannot be seen from here
 */
struct fs_interrupt {
	struct fs_interrupt *next;
	struct fs *fs;
	void (*tell)(struct fs_interrupt *i);
	pid_t tid;
	bool is_listed;
};

/** struct fs_interrupts - those that were no signals so far */
struct fs_interrupts {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct fs_interrupt *list; /* under @lock, as the next one */
	bool is_stopping;
	pthread_t thread;
};

/** fs_interrupt_start() - 0 or -errno; fs_interrupt_stop() must follow */
int fs_interrupt_start(struct fs *fs);

/** fs_interrupt_stop() - what still comes is taken for a signal */
void fs_interrupt_stop(struct fs *fs);

/**
 * fs_interrupt_arm() - @tell is called if a signal comes, at once if it has
 *
 * fs_interrupt_disarm() must follow before @req is answered.
 */
void fs_interrupt_arm(struct fs_interrupt *i, struct fs *fs,
		      struct fuse_req *req, void (*tell)(struct fs_interrupt *i));

/** fs_interrupt_disarm() - @tell is not running, and will not be called */
void fs_interrupt_disarm(struct fs_interrupt *i, struct fuse_req *req);

#endif /* K80FS_FUSE_INTERRUPT_H */
