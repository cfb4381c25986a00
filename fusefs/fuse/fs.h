/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuse/ - everything that speaks FUSE: each request is decoded, refused or
 * handed down, and answered once. What all its files share is here.
 * May use: every other folder, and options.
 * Must not know: how a die is put into the slot or how a byte is copied.
 * Each file's own contract is in the header of its name.
 */
#ifndef K80FS_FS_H
#define K80FS_FS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "base/budget.h"
#include "engine/io.h"
#include "fuse/interrupt.h"
#include "fuse/pair.h"
#include "options.h"
#include "sched/sched.h"
#include "text/lines.h"
#include "text/node.h"
#include "text/status.h"
#include "text/uring.h"

struct compute;
struct fs_inval;
struct mem;
struct mem_file;
struct mem_reader;
struct share;
struct fuse_pollhandle;
struct fuse_session;

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
};

/**
 * struct fs_end - see end.h
 * @dev:       of the mount, 0 until it is known
 * @has_begun: the daemon was told to stop
 * @is_let_go: it is nobody's mount point any more
 * @n_lost:    backend_lost() of all dies when the end began
 * @until:     then nothing waits for another process' lease any more
 */
struct fs_end {
	int signal_fd;
	int wake_fd;
	_Atomic uint64_t dev;
	_Atomic bool has_begun;
	bool is_let_go;
	uint64_t n_lost;
	uint64_t until;
};

struct fs {
	const struct options *opts;
	struct fuse_session *se;
	struct backend be;
	struct io_engine io;
	struct compute *compute; /* NULL: not asked for */
	struct mem *mem; /* the same */
	struct share *share; /* NULL: nobody can map files of @mem */
	_Atomic bool is_vram_given[BACKEND_MAX_DIES]; /* to kernels, once */
	struct node_table nodes; /* immutable */
	uint32_t generations[BACKEND_MAX_DIES]; /* immutable; see handle.h */
	uint64_t start_ns; /* as now_ns() */
	bool is_broken; /* it was mounted, but does not work */
	_Atomic bool is_agreed; /* the kernel and the session have agreed */
	const char *_Atomic transport;
	struct fs_uring uring;
	struct fs_pairs pairs;
	struct fs_end end;
	_Atomic uint64_t n_unclear; /* images whose holes are not cleared */
	struct budget texts; /* of files that strangers have open */

	_Atomic unsigned int n_open; /* length of @files */
	pthread_mutex_t files_lock;
	pthread_cond_t files_finished;
	struct fs_file *files; /* under files_lock, as the next one */
	unsigned int n_finishing; /* their images are being cleared */

	pthread_mutex_t attr_lock;
	struct fs_attr attrs[NODE_TABLE_LEN]; /* under attr_lock */

	_Atomic bool has_pages[NODE_TABLE_LEN]; /* read through the page cache */
	pthread_mutex_t inval_lock;
	pthread_cond_t inval_wake;
	struct fs_inval *inval_head; /* under inval_lock, as the next two */
	struct fs_inval **inval_tail;
	unsigned int parked_fills[NODE_TABLE_LEN]; /* under inval_lock */
	bool is_inval_stopping;
	pthread_t inval_thread;

	pthread_mutex_t error_lock;
	struct fs_error errors[BACKEND_MAX_DIES]; /* under error_lock */
	uint64_t error_seq; /* under error_lock */

	pthread_mutex_t print_lock; /* taken before error_lock, attr_lock */
	/* of the root, then of each die, when it was looked at last: under
	 * print_lock */
	uint64_t prints[BACKEND_MAX_DIES + 1];

	struct fs_interrupts interrupts;
	pthread_mutex_t watch_lock;
	struct fs_watch *watches; /* under watch_lock, and their fields */
	pthread_t watch_thread;
	int watch_fd; /* eventfd: look again */
	bool is_watching; /* watch_thread is there */
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
 * struct fs_file - an open file, see file.h
 * @next, @link: in the list of all, under its lock
 * @is_closing: its image is being cleared for the last time, or has been
 * @flags: of its open
 * @io:   vram and resmem; of a mem file @io.sync and @io.lost
 * @mem:  a mem file, whose folder is @node; @reader: goes with it
 * @texts_room: bytes of it in the budget of the texts that strangers have open
 * @was_written: ctl: since the last FLUSH; mem: since it was synced
 * @hold: ctl: the lease this open file took
 * @text: status and texts of compute: the snapshot; @text_len; @text_lock
 *        guards them, @module and @lines
 */
struct fs_file {
	struct fs_file *next;
	struct fs_file **link;
	bool is_closing;
	const struct node *node;
	int flags;
	struct io_file io;
	struct mem_file *mem;
	struct mem_reader *reader;
	uint64_t texts_room;
	_Atomic bool was_written;
	struct sched_hold hold;
	pthread_mutex_t text_lock;
	char *text;
	size_t text_len;
	struct fs_module module; /* compute/module */
	struct lines lines; /* ctl and compute/ctl */
	struct fs_pair pair;
	struct fs_watch watch;
};

#endif /* K80FS_FS_H */
