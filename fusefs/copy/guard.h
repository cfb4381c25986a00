/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touching memory that may vanish: SIGBUS inside a guarded copy becomes -EIO
 * of that copy alone.
 */
#ifndef K80FS_GUARD_H
#define K80FS_GUARD_H

#include <stddef.h>

typedef void (*guard_fn)(void *dst, const void *src, size_t len);

/**
 * guard_init() - install the SIGBUS handler; if it is there, nothing is done
 *
 * What is no guarded copy's fault goes to the handler that was there before.
 *
 * Context: one thread at a time, none of them in a guarded copy.
 * Return: 0 or -errno of sigaction(2).
 */
int guard_init(void);

/**
 * guard_copy() - run @fn(@dst, @src, @len)
 * @dev: the side that may vanish, @len bytes: @dst or @src
 *
 * A SIGBUS at any other address is what it would be without us.
 *
 * Return: 0; -EIO a page of @dev was not there, @dst is in part undefined.
 */
int guard_copy(guard_fn fn, void *dst, const void *src, size_t len,
	       const void *dev);

#endif /* K80FS_GUARD_H */
