/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy threads for requests that are resumed after a wait, and the buffers that
 * every thread owns.
 */
#ifndef K80FS_POOL_H
#define K80FS_POOL_H

#include <stddef.h>

/* one huge page */
#define POOL_REQUEST_LEN ((size_t)2 << 20)
#define POOL_BOUNCE_LEN  ((size_t)1 << 20) /* the longest read */

struct pool;

/**
 * struct pool_work - one thing to run; lives in its owner
 * @fn: runs on a pool thread; must not wait for the slot
 */
struct pool_work {
	struct pool_work *next;
	void (*fn)(struct pool_work *work);
};

/**
 * pool_start() - start @n_threads threads
 * Return: a pool, or NULL with errno set.
 */
struct pool *pool_start(unsigned int n_threads);

/** pool_stop() - finish what was submitted, end the threads, free */
void pool_stop(struct pool *p);

/** pool_submit() - run @work soon; any thread */
void pool_submit(struct pool *p, struct pool_work *work);

/**
 * pool_map() - memory for copies: whole huge pages where the system has them
 * @len: a multiple of 2 MiB
 *
 * Return: zeroed memory, or NULL. munmap() frees it.
 */
void *pool_map(size_t len);

/**
 * pool_request_buf() - the calling thread's own POOL_REQUEST_LEN bytes
 *
 * For the request it reads. Persistent: a fresh buffer for each would cost a
 * page fault a page, as much time as the copy; and one huge page, for the same
 * reason. Freed when the thread ends.
 *
 * Return: the buffer, or NULL when there is no memory.
 */
void *pool_request_buf(void);

/**
 * pool_bounce() - its second half, POOL_BOUNCE_LEN bytes
 *
 * For the answer to a read: only a write is long enough to reach there.
 *
 * Return: the buffer, or NULL when there is no memory.
 */
void *pool_bounce(void);

#endif /* K80FS_POOL_H */
