/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A k80-worker process: started, asked, ended. One caller at a time.
 */
#ifndef OWNER_WORKER_H
#define OWNER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "owner/wire.h"

struct worker;

/**
 * struct worker_start - what a worker is to be
 * @die:      which; the first one if it has more than one seat
 * @n_seats:  dies that are streams of it
 * @seat:     the one that it is started for
 * @memory:   of worker_memory(), for as many seats
 * @node:     of the module; NULL: there is none
 * @bdf:      with @node: the die's PCI address: the one device that it sees
 * @lease_fd: with @node: the open file whose lease keeps the die in while the
 *            worker is asked. The worker has a duplicate, so that a lease does
 *            not end under a call whose caller is killed
 * @devices:  without @node: its CUDA_VISIBLE_DEVICES; NULL: as it is
 * @log:      takes its lines, in worker_call(); a step has been logged when it
 *            returns; @is_blame: it is about what failed
 */
struct worker_start {
	unsigned int die;
	unsigned int n_seats;
	unsigned int seat;
	int memory;
	const char *node;
	const char *bdf;
	int lease_fd;
	const char *devices;
	void (*log)(void *arg, unsigned int seat, const char *line,
		    bool is_blame);
	void *arg;
};

/**
 * worker_memory() - make memory to share with a worker
 * @shared: out: mapped, zero, a struct for each seat
 *
 * Return: its descriptor, for worker_start(); -errno.
 */
int worker_memory(unsigned int n_seats, struct wire_shared **shared);

/**
 * worker_start() - start the program and wait until it has opened CUDA
 * @out:     out: also on failure, if there is anything to be dismissed and
 *           freed, else NULL
 * @how:     copied, but for its texts
 * @n_found: out: how many CUDA devices it sees
 *
 * The die is in the slot. The program is k80-worker, beside this one or in
 * ../libexec/k80fs; it gets three descriptors and nothing else.
 *
 * Return: 0; -ENOENT there is no such program; what it says; -errno.
 */
int worker_start(struct worker **out, const struct worker_start *how,
		 int *n_found);

/**
 * worker_call() - ask, log what it says meanwhile, wait for the answer
 * @reply: out: on 0; its @result is what the request came to
 *
 * One that does not answer is killed after a while.
 *
 * Return: 0; -EPIPE it is gone.
 */
int worker_call(struct worker *w, const struct wire_request *req,
		struct wire_reply *reply);

/** worker_give() - the same with @n descriptors, at most WIRE_MAX_CHUNKS, which
 * stay the caller's too; also -ETOOMANYREFS, -ENOBUFS and others: not sent */
int worker_give(struct worker *w, const struct wire_request *req,
		const int *fds, unsigned int n, struct wire_reply *reply);

/** worker_is_gone() - whether it has ended, or lost its end of the socket */
bool worker_is_gone(struct worker *w);

/**
 * worker_dismiss() - tell it to leave its die, and do not wait
 *
 * It takes the slot by itself: nobody who waits for its end may hold that.
 */
void worker_dismiss(struct worker *w);

/**
 * worker_free() - wait for its end and forget it
 * @deadline: on the clock of now_ns(): after it the worker is left alone, and
 *            ends when it gets the slot
 *
 * After worker_dismiss(), or a -EPIPE.
 *
 * Return: 0; -ETIMEDOUT it was left alone.
 */
int worker_free(struct worker *w, uint64_t deadline);

#endif /* OWNER_WORKER_H */
