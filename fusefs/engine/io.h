/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine/ - what a request on memory goes through once FUSE is left behind:
 * io.c is its way from submission to answer, io_step.c its work while the die
 * is in; behind.c and readahead.c hide swaps, pool.c has the copy threads.
 * May use: sched, backend and what is below them.
 * Must not know: FUSE, the tree, who asked.
 *
 * One transfer: ask the scheduler, copy, give the die back, answer once.
 *
 * A request runs on the thread that submits it while its die is in. Otherwise
 * it is parked with the scheduler and goes on, later, on a copy thread. Work
 * that is longer than one request of IO_MAX_LEN has threads of its own and is
 * done in steps, each with its own turn, so that it can be interrupted and
 * holds nobody up.
 */
#ifndef K80FS_IO_H
#define K80FS_IO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "base/budget.h"
#include "engine/behind.h"
#include "engine/image.h"
#include "engine/pool.h"
#include "engine/readahead.h"
#include "sched/sched.h"

#define IO_MAX_LEN   POOL_BOUNCE_LEN /* longest read or write request */
#define IO_ZERO_STEP ((uint64_t)16 << 20) /* bytes cleared in one turn */
#define IO_COPY_MAX  ((size_t)16 << 20) /* bytes of one stage of a copy */
#define IO_MAX_TAKEN 16 /* after that many times it is an error */
#define IO_KEPT_MAX  ((uint64_t)256 << 20) /* bytes kept for what waits */
#define IO_COPY_MIN  ((size_t)4 << 20) /* the same while another copy runs */

/**
 * struct io_engine - what every transfer needs
 * @pool:      for what waited; @long_pool: for clears and copies
 * @is_staging: a copy between dies uses @stage now
 * @stage:     IO_COPY_MAX bytes, kept between copies; whoever set @is_staging
 * @kept:      by requests that wait: what they write, and stages but @stage
 * @behind:    see io_start()
 * @others:    acquires of each die by other programs, as far as its read-ahead
 *             knows of them
 * @zero_done: progress of a `zero` of each die; @zero_total: 0 for none
 */
struct io_engine {
	struct backend *be;
	struct sched *sched;
	struct pool *pool;
	struct pool *long_pool;
	uint64_t wait_ns; /* default patience with holds of other dies */
	atomic_flag is_staging;
	char *stage;
	struct budget kept;
	_Atomic uint64_t zero_done[BACKEND_MAX_DIES];
	_Atomic uint64_t zero_total[BACKEND_MAX_DIES];
	struct readahead_pool ra;
	struct behind behind;
	struct images images;
	_Atomic uint64_t others[BACKEND_MAX_DIES];
};

/**
 * struct io_file - an open vram or resmem file
 * @die:        whose memory
 * @base:       where the file starts in it, bytes
 * @len:        length of the file, bytes
 * @generation: of the die at open: another one means that the contents went
 * @nowait:     opened O_NONBLOCK
 * @sync:       opened O_SYNC or O_DSYNC, or mounted sync
 * @wrote:      something was written since the last sync
 * @has_written: something was written since it was opened
 * @lost:       answered writes of the die that failed, as far as this file's
 *              user was told
 * @reader:     the backend's view of it, NULL for none
 */
struct io_file {
	unsigned int die;
	uint64_t base;
	uint64_t len;
	uint64_t generation;
	bool nowait;
	bool sync;
	_Atomic bool wrote;
	_Atomic bool has_written;
	_Atomic uint64_t lost;
	void *reader;
	struct readahead ra;
	struct behind_stream behind;
	struct image image;
};

enum io_op {
	IO_READ,
	IO_WRITE,
	IO_ZERO,
	IO_COPY, /* @file to @dst */
	IO_SYNC,
	IO_CLEAR, /* the holes of @file's image, then as SYNC */
	IO_SLOT, /* no transfer: what @req.op says */
};

/**
 * struct io - one request; the caller fills in the first part
 * @op:     what
 * @file:   open file; NULL for ctl commands
 * @die:    which die, also @file's
 * @off:    first byte in the file, or in the die without one
 * @len:    bytes, inside the file; READ and WRITE at most IO_MAX_LEN
 * @data:   WRITE: the bytes, valid until the answer, or until @park
 * @to:     READ: where the bytes go, NULL for a buffer of the engine's
 * @dst:    COPY: where to; @dst_off: first byte there
 * @grows:  ZERO: a new image of @file that ends before it ends with it then
 * @hole_from: out: a hole of the image began there, in the file that was
 *          written to; UINT64_MAX: none did
 * @sync:   a write has reached the die when it is answered; @direct: neither
 *          from nor into what is read ahead. io_init() sets the file's
 * @park:   called before the request leaves the thread that submits it, maybe
 *          again later, NULL for none: keep @data, arm interrupts. An error of
 *          it is the answer
 * @answer: called exactly once, without locks and with the die given back.
 *          @result: bytes, 0 or -errno; @data: READ: what was read, valid
 *          during the call. May run in the scheduler's thread when @result
 *          is negative: must not wait
 * @is_close: SYNC: for a close, see io_take_written()
 * @req:    nowait, wait_ns, pid, comm, hold as in struct sched_req; io_init()
 *          sets the defaults
 */
struct io {
	enum io_op op;
	struct io_file *file;
	unsigned int die;
	uint64_t off;
	uint64_t len;
	const void *data;
	void *to;
	struct io_file *dst;
	uint64_t dst_off;
	bool grows;
	uint64_t hole_from;
	bool is_close;
	bool sync;
	bool direct;
	int (*park)(struct io *io);
	void (*answer)(struct io *io, ssize_t result, const void *data);
	struct sched_req req;

	/* the engine's */
	struct io_engine *eng;
	struct pool_work work;
	uint64_t done;
	const void *out;
	struct backend_loan loan; /* what @out is in, if it is a loan */
	char *stage;
	uint64_t stage_len;
	bool has_large_stage;
	bool was_parked;
	unsigned int taken; /* times the die was taken out under a step */
	uint64_t lost; /* backend_lost() when it came */
	bool is_late; /* its -EIO is that of an earlier write */
};

/** io_start() - once @be, @sched and @pool are there */
void io_start(struct io_engine *eng);

/** io_end() - write nothing behind any more; what waits gets to its dies now */
void io_end(struct io_engine *eng);

/**
 * io_settle() - before the scheduler is stopped: have the dies get what was
 * written behind
 * @patience_ns: at most so long
 * Return: bytes that did not reach their dies.
 */
uint64_t io_settle(struct io_engine *eng, uint64_t patience_ns);

/** io_stop() - after the last answer: free what is kept between requests */
void io_stop(struct io_engine *eng);

/** io_init() - clear, set the defaults and the die of @file */
void io_init(struct io *io, struct io_engine *eng, enum io_op op,
	     struct io_file *file);

/**
 * io_submit() - run it or park it; @io belongs to the engine until @answer
 *
 * Results of @answer: bytes transferred (READ, WRITE, COPY), else 0; -ESTALE
 * the die was reset since the file was opened; -EIO it does not answer, or a
 * write that was answered before did not reach it;
 * -EBUSY, -ETIMEDOUT, -EINTR, -ENODEV as sched_park() says; -ENOMEM.
 */
void io_submit(struct io *io);

/**
 * io_take_written() - whether an IO_SYNC of @file has anything to do
 * @is_close: others' writes do not matter
 *
 * If so it must follow; if that fails, @file->wrote must be set again.
 */
bool io_take_written(struct io_engine *eng, struct io_file *file, bool is_close);

/** io_interrupt() - a signal came for it; any context, any lock */
void io_interrupt(struct io *io);

/** io_is_stale() - whether the contents of its die went since it was opened */
bool io_is_stale(const struct io_engine *eng, const struct io_file *file);

#endif /* K80FS_IO_H */
