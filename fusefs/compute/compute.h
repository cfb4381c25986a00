/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compute/ - dieN/compute: its commands, their queue, their log.
 * May use: sched for the slot, owner for contexts and launches, text, base.
 * Must not know: FUSE; the engine, which moves memory beside it.
 * compute.c runs requests, a thread a die; ctl.c has the commands' grammar.
 * Both are tested without a mount.
 *
 * Compute as files, without FUSE: a thread for each die runs its requests.
 *
 * What must wait for a kernel waits in the die's queue, at the cost of nobody
 * else; what need not overtakes it, so that a kernel can be started while
 * somebody waits for the one before. A call that needs the slot gets it from
 * the scheduler, like any transfer.
 */
#ifndef K80FS_COMPUTE_H
#define K80FS_COMPUTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "owner/owner.h"
#include "sched/sched.h"

#define COMPUTE_STATUS_MAX 4096
#define COMPUTE_LOG_MAX    16384

struct compute;

/**
 * struct compute_config - what there is
 * @has_slot: dies take turns
 * @wait_ns: how long a hold of another die may block a request
 * @node, @bdf, @uuid, @lease_fd: as in struct owner_config
 * @logged: a line came to the log of @die; no lock is held
 * @memory: that of a file of @die by its name, or with "" of its vram;
 *          owner_memory_free() is for @out. 0; -ENOENT; -ENODATA it has none;
 *          ... NULL: there are no such files
 */
struct compute_config {
	struct sched *sched;
	unsigned int n_dies;
	bool is_streams;
	bool has_slot;
	uint64_t wait_ns;
	const char *node;
	const char (*bdf)[16];
	const uint8_t (*uuid)[16];
	int lease_fd;
	void (*logged)(void *arg, unsigned int die);
	int (*memory)(void *arg, unsigned int die, const char *name,
		      struct owner_memory *out);
	void *arg;
};

enum compute_op {
	COMPUTE_CTL, /* @data: lines of commands */
	COMPUTE_READ,
	COMPUTE_WRITE,
	COMPUTE_LOAD, /* @data: PTX */
};

/**
 * struct compute_req - a request; the caller fills in the first part
 * @buffer: READ, WRITE
 * @off:    READ, WRITE: bytes; [@off, @off + @len) is inside OWNER_BYTES
 * @data:   @len bytes, valid until the answer
 * @nowait: -EAGAIN instead of waiting for a kernel, -EBUSY for a hold
 * @answer: called once, without locks, from the die's thread. @result: bytes,
 *          for CTL those of the lines that succeeded if there is one; 0 for
 *          LOAD; else -errno
 */
struct compute_req {
	enum compute_op op;
	unsigned int die;
	enum owner_buffer buffer;
	size_t off;
	size_t len;
	char *data;
	bool nowait;
	void (*answer)(struct compute_req *req, ssize_t result);

	/* compute's; zero at first */
	struct compute_req *next;
	size_t pos;
	_Atomic bool interrupted;
};

/**
 * compute_start() - start the threads; CUDA is not asked for anything yet
 * Return: 0 or -errno.
 */
int compute_start(struct compute **out, const struct compute_config *cfg);

/**
 * compute_end() - from here on every request is answered with -ENODEV, also
 * those that wait for a kernel; NULL does nothing
 */
void compute_end(struct compute *c);

/**
 * compute_stop() - answer what waits with -ENODEV and end the threads
 *
 * Workers leave their dies in order, and their kernels end with them. Before
 * sched_stop() and without a hold: each worker waits for the slot.
 */
void compute_stop(struct compute *c);

/** compute_submit() - @req belongs to compute until its answer */
void compute_submit(struct compute *c, struct compute_req *req);

/** compute_interrupt() - only marks and wakes; @req was submitted or will be */
void compute_interrupt(struct compute *c, struct compute_req *req);

/** compute_status() - `key value` lines; never waits
 * @buf: out: COMPUTE_STATUS_MAX bytes
 * Return: length without the NUL. */
size_t compute_status(struct compute *c, unsigned int die, char *buf);

/** compute_log() - the newest lines of what happened to a die
 * @buf: out: COMPUTE_LOG_MAX bytes, or NULL
 * Return: length; there is no NUL. */
size_t compute_log(struct compute *c, unsigned int die, char *buf);

/**
 * compute_module() - the text of the user's module, else of the built-in one
 * @text: out: to be freed; NULL if it is not wanted
 * Return: length; -ENOMEM.
 */
ssize_t compute_module(struct compute *c, unsigned int die, char **text);

#endif /* K80FS_COMPUTE_H */
