/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between a FUSE request and the engine. */
#ifndef K80FS_FUSE_CALL_H
#define K80FS_FUSE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/io.h"
#include "engine/pool.h"
#include "fuse/interrupt.h"
#include "fuse/inval.h"

struct fs;
struct fuse_req;
struct uring_queue;

/**
 * struct fs_call - a FUSE request under way in the engine
 * @io:    first: what the engine runs
 * @buf:   data kept while it is parked
 * @ino:   the file that a success changes, 0 for none; @inval: its pages
 * @fills: the file whose pages a read fills, 0 for none; @is_filling: it is
 *         parked meanwhile
 * @uid:   who asks
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
	uint64_t ino;
	uint64_t fills;
	bool is_filling;
	uid_t uid;
	bool is_armed;
	struct fs_interrupt interrupt;
	ssize_t result;
	struct fs_inval inval;
	void (*reply)(struct fs_call *call, ssize_t result, const void *data);
};

struct fs_call *fs_call_new(struct fuse_req *req, enum io_op op,
			    struct io_file *file);
void fs_call_submit(struct fs_call *call);
void fs_call_arm(struct fs_call *call);
void fs_call_disarm(struct fs_call *call);

#endif /* K80FS_FUSE_CALL_H */
