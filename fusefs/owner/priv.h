/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the owner share. */
#ifndef OWNER_PRIV_H
#define OWNER_PRIV_H

#include <pthread.h>

#include "owner/bind.h"
#include "owner/owner.h"
#include "owner/wire.h"
#include "owner/worker.h"

/**
 * struct owner_group - the dies of one worker: one, or with streams all
 * @first:  its first die; the seat of a die is counted from there
 * @worker: NULL: none was started, or it was given up
 * @memory: descriptor of @shared, -1 until a worker is started; workers that
 *          follow one another share it
 * @serial: raised with each worker: a die of an older one has lost it
 * @is_bad: it answers no more, or a context of it is spoilt
 * @found:  devices that it sees
 */
struct owner_group {
	struct owner *owner;
	unsigned int first;
	pthread_mutex_t lock; /* guards all below; before a die's */
	struct worker *worker;
	int memory;
	struct wire_shared *shared;
	unsigned int serial;
	bool is_bad;
	int found;
};

/** struct owner_kernels - the kernels of a module, as its text has them */
struct owner_kernels {
	unsigned int n;
	struct ptx_kernel list[PTX_MAX_KERNELS];
};

/**
 * struct owner_die - a die; but for what @lock guards its thread's own
 * @serial:   of the worker that it is online with
 * @shared:   its part of the group's; set under @lock; NULL: never online
 * @query_at: when to ask the stream itself, ns: of a kernel that failed no
 *            mark comes
 * @ranges:   what its worker has mapped
 * @last_key: of them, never used again
 * @has_work: @seed and @iters are of the kernel that ran last
 * @view:     under @lock; its state RUNNING also says that @mark_want counts
 * @mark_want: under @lock: what the shared mark is when all has ended
 */
struct owner_die {
	struct owner_group *group;
	unsigned int serial;
	struct wire_shared *shared;
	uint64_t query_at;
	struct owner_range *ranges;
	uint64_t last_key;
	bool has_work;
	uint32_t seed, iters;

	pthread_mutex_t lock;
	struct owner_view view;
	struct owner_kernels builtin, user; /* under lock when they change */
	unsigned char mark_want;
};

struct owner_range;

/**
 * struct owner - all of them
 * @bind:      NULL: no driver is bound, see struct owner_config
 * @n_devices: of a process that sees all, 0 until somebody asked
 */
struct owner {
	struct owner_config cfg;
	struct bind *bind;
	pthread_mutex_t lock; /* guards @n_devices, and is held to bind */
	int n_devices;
	struct owner_group groups[OWNER_MAX_DIES];
	struct owner_die dies[OWNER_MAX_DIES];
};

/* state.c */
int owner_enter(struct owner *o, unsigned int die); /* the window */
void owner_leave(struct owner *o, unsigned int die);
void owner_say(struct owner *o, unsigned int die, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void owner_blame(struct owner *o, unsigned int die, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
enum owner_state owner_state(struct owner_die *d);
void owner_set_state(struct owner_die *d, enum owner_state state);
bool owner_is_marked(struct owner_die *d);

/* call.c */

/**
 * owner_call() - ask the die's worker
 *
 * The die is in the window. A worker that is gone, or a context that is spoilt,
 * makes every die of it OWNER_FAILED.
 *
 * Return: the answer's result; -EIO there is no worker any more.
 */
int owner_call(struct owner *o, unsigned int die, struct wire_request *req,
	       struct wire_reply *reply);

/** owner_give() - the same with @n descriptors of a WIRE_MAP */
int owner_give(struct owner *o, unsigned int die, struct wire_request *req,
	       const int *fds, unsigned int n, struct wire_reply *reply);

/** owner_join() - be online with the group's worker, started if there is none;
 * in the window. 0 or -errno: then owner_part() is called */
int owner_join(struct owner *o, unsigned int die, struct wire_reply *reply);

/** owner_part() - give the group's worker up if it is of no use: bad, or of
 * this die alone. Not in the window */
void owner_part(struct owner *o, unsigned int die);

/** owner_tell_end() - dismiss the worker of @group without waiting */
void owner_tell_end(struct owner_group *g);

/** owner_await_end() - until it has gone, or @deadline; 0 or -ETIMEDOUT */
int owner_await_end(struct owner_group *g, uint64_t deadline);

/** owner_check_alive() - notice a worker that is gone without asking it */
void owner_check_alive(struct owner *o, unsigned int die);

/** owner_count_anew() - start a worker, let it count its devices, end it: one
 * that sees @die alone where there is a module, else one that sees all. Takes
 * the window by itself */
int owner_count_anew(struct owner *o, unsigned int die, int *count);

/* memory.c: forget what a worker had that is gone */
void owner_lose_ranges(struct owner_die *d);

/* run.c; 0 or why nothing can be done: -ENXIO, -EIO; -EBUSY it runs */
int owner_check_online(struct owner_die *d);
int owner_check_idle(struct owner *o, unsigned int die);

#endif /* OWNER_PRIV_H */
