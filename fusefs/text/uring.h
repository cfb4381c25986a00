/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FUSE over io_uring: whether it can be had, and how much may wait in it.
 *
 * The kernel has one queue for each CPU, with a fixed number of entries. A
 * request keeps its entry until it is answered, and one that comes while none
 * is free waits in the kernel for one of that same queue: a queue full of
 * requests that wait would hold up everything else its CPU asks for, also for
 * the die that is in. There is no bound on what clients of one CPU may ask for
 * at once, so the daemon sets one: some entries are never waited in.
 */
#ifndef K80FS_URING_H
#define K80FS_URING_H

#include <stdatomic.h>
#include <stdbool.h>

/* before it replies could get lost, and memory be used after it was freed */
#define URING_LIBFUSE "3.18.3"

#define URING_DEPTH      8 /* more gained nothing */
#define URING_DEPTH_MIN  4
#define URING_DEPTH_MAX  256 /* a MiB of addresses each, for each CPU */
#define URING_SPARE      2 /* entries of a queue that nothing waits in */
#define URING_SPARE_LONG 1 /* and that no long work is done in */

/**
 * struct uring_facts - what decides whether it can be had
 * @is_built:     compiled against a libfuse that has it
 * @libfuse:      version of the one that runs
 * @has_liburing: the one that runs was built with it
 * @kernel:       'Y', 'N', or '\0' where the kernel knows no such thing
 * @has_slot:     the backend's dies take turns
 * @has_depth:    the user set a depth, and so accepts what waits
 * @has_compute:  requests may wait for kernels that never end
 */
struct uring_facts {
	bool is_built;
	const char *libfuse;
	bool has_liburing;
	char kernel;
	bool has_slot;
	bool has_depth;
	bool has_compute;
};

/**
 * uring_obstacle() - why it cannot be used
 * Return: the end of a sentence that starts with "io_uring: ", or NULL if
 * nothing is in the way.
 */
const char *uring_obstacle(const struct uring_facts *f);

/** uring_is_new_enough() - whether @version is URING_LIBFUSE or later */
bool uring_is_new_enough(const char *version);

/**
 * struct uring_queue - one CPU's queue
 * @depth:   entries; set before the first request, then immutable
 * @waiting: entries whose request outlives its handler
 */
struct uring_queue {
	unsigned int depth;
	atomic_uint waiting;
};

/**
 * uring_wait() - take an entry for longer than its handler runs
 * @is_long: to work in; it may have to wait before that
 *
 * Return: true, then uring_wait_end() after the answer; false: too few are left.
 */
bool uring_wait(struct uring_queue *q, bool is_long);

/** uring_wait_end() - after uring_wait() gave true: it is answered */
void uring_wait_end(struct uring_queue *q);

#endif /* K80FS_URING_H */
