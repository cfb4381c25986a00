/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing behind: to a die that is out of the slot, when a client alternates.
 *
 * `dd if=die0/vram of=die1/vram` and `tee` to six dies ask another die each
 * time, and would swap once a block. A sequential write that would have to
 * wait, of a client that last asked another die or has waited twice in a row,
 * is copied here and answered; what follows it is added. The die then waits for
 * its turn like any other, and before any other request of it runs, what was
 * written behind is: so every reader of the mount sees it. A sync of the die
 * waits for that; what fails then counts in backend_lost().
 *
 * The memory is shared by all dies. When there is none left, or a write does
 * not follow the last one, it waits for the die as if none of this were here.
 */
#ifndef K80FS_BEHIND_H
#define K80FS_BEHIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "engine/pool.h"
#include "sched/sched.h"

#define BEHIND_CHUNK  ((size_t)2 << 20) /* a huge page */
#define BEHIND_CHUNKS 16 /* 32 MiB in all */
#define BEHIND_WAITS  2 /* sequential writes in a row that had to wait */

enum behind_state {
	BEHIND_EMPTY,
	BEHIND_OPEN, /* its FLUSH is parked; more may be added */
	BEHIND_FLUSHING,
};

/**
 * struct behind_die - what waits for one die
 * @start, @len: bytes [@start, @start + @len) of its memory
 * @generation:  of the die when the first of them was written
 * @copying:     writes that copy into @chunks
 * @taken:       times the die was taken out under the flush
 * @result:      what the scheduler said of its FLUSH
 */
struct behind_die {
	struct behind *all;
	enum behind_state state;
	uint64_t start;
	uint64_t len;
	uint64_t generation;
	unsigned int copying;
	unsigned int taken;
	int result;
	unsigned int n_chunks;
	char *chunks[BEHIND_CHUNKS];
	struct sched_req req;
	struct pool_work work;
};

/**
 * struct behind - of all dies
 * @lock:  guards all below and every struct behind_stream; never held across a
 *         copy
 * @quiet: some die has less to do
 * @is_closed: nothing is taken any more
 * @free:  chunks nobody uses; @n_mapped: chunks there are
 */
struct behind {
	struct backend *be;
	struct sched *sched;
	struct pool *pool;
	pthread_mutex_t lock;
	pthread_cond_t quiet;
	bool is_closed;
	unsigned int n_free;
	unsigned int n_mapped;
	char *free[BEHIND_CHUNKS];
	struct behind_die dies[BACKEND_MAX_DIES];
};

/** struct behind_stream - of one open file; starts zeroed */
struct behind_stream {
	uint64_t next; /* where a sequential writer goes on */
	unsigned int waits; /* in a row */
};

void behind_init(struct behind *b, struct backend *be, struct sched *sched,
		 struct pool *pool);

/**
 * behind_write() - take a write that would have to wait
 * @generation: of its file; @off: in the memory of the die; @pid: who writes
 *
 * Return: true if it may be answered; false: let it wait.
 */
bool behind_write(struct behind *b, struct behind_stream *stream,
		  unsigned int die, uint64_t generation, uint64_t off,
		  const void *data, size_t len, pid_t pid);

/** behind_passed() - a write of @stream ran without a wait */
void behind_passed(struct behind *b, struct behind_stream *stream, uint64_t off,
		   size_t len);

/** behind_waits() - whether anything waits for @die */
bool behind_waits(struct behind *b, unsigned int die);

/** behind_close() - take nothing more; what waits is in a hurry */
void behind_close(struct behind *b);

/**
 * behind_settle() - after behind_close(): wait until nothing waits for any die
 * @patience_ns: at most so long
 * Return: bytes that still wait.
 */
uint64_t behind_settle(struct behind *b, uint64_t patience_ns);

/** behind_free() - after the scheduler and the pool were stopped */
void behind_free(struct behind *b);

#endif /* K80FS_BEHIND_H */
