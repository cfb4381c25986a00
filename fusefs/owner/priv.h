/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the owner share. */
#ifndef OWNER_OWNER_PRIV_H
#define OWNER_OWNER_PRIV_H

#include <pthread.h>

#include "cuda/cuda.h"
#include "owner/owner.h"

/**
 * struct owner_ctx - a context; one die's, or with streams one device's
 * @n_users: dies that are online on it
 * @is_bad:  a kernel failed: every call on it fails until it is destroyed
 */
struct owner_ctx {
	struct owner_ctx *next;
	CUcontext ctx;
	int device;
	unsigned int n_users;
	bool is_bad;
};

struct owner_module {
	CUmodule module; /* NULL: none */
	unsigned int n_kernels;
	struct ptx_kernel kernels[PTX_MAX_KERNELS];
};

/**
 * struct owner_die - a die; but for what @lock guards its thread's own
 * @stage:    pinned host memory, OWNER_BYTES
 * @mark:     a byte of device memory, copied to @done behind each kernel
 * @query_at: when to ask the stream itself, ns: of a kernel that failed no
 *            mark comes
 * @has_work: @seed and @iters are of the kernel that ran last
 * @view:     under @lock; its state RUNNING also says that @mark_want counts
 * @done:     under @lock: pinned host memory, the GPU writes it; NULL: offline
 * @mark_want: under @lock: what @done is when all has ended
 */
struct owner_die {
	struct owner_ctx *ctx;
	CUstream stream;
	CUdeviceptr buffer[2];
	CUdeviceptr mark;
	void *stage;
	uint64_t query_at;
	bool has_work;
	uint32_t seed, iters;

	pthread_mutex_t lock;
	struct owner_view view;
	struct owner_module builtin, user; /* under lock when they change */
	unsigned char *done;
	unsigned char mark_want;
};

struct owner {
	struct owner_config cfg;
	pthread_mutex_t lock; /* opening of CUDA; contexts. Before a die's */
	struct owner_ctx *ctxs; /* under lock, as is_bad and n_users of each */
	struct owner_die dies[OWNER_MAX_DIES];
};

/* owner.c */
int owner_enter(struct owner *o, unsigned int die); /* the window */
int owner_use(struct owner *o, unsigned int die); /* and its context */
void owner_leave(struct owner *o, unsigned int die);
void owner_say(struct owner *o, unsigned int die, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void owner_blame(struct owner *o, unsigned int die, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int owner_failed(struct owner *o, unsigned int die, const char *what,
		 CUresult err);
void owner_set_state(struct owner_die *d, enum owner_state state);

bool owner_is_marked_locked(const struct owner_die *d);

/* owner_run.c; 0 or why nothing can be done: -ENXIO, -EIO; -EBUSY it runs */
int owner_check_online(const struct owner_die *d);
int owner_check_idle(struct owner *o, unsigned int die);

/* owner_ctx.c */
int owner_compile(struct owner *o, unsigned int die, const char *text,
		  size_t len, struct owner_module *module);

#endif /* OWNER_OWNER_PRIV_H */
