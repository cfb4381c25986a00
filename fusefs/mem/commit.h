/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table tells what there is: each change that must outlive the daemon is
 * committed before it is answered, or before memory is given back.
 */
#ifndef K80FS_MEM_COMMIT_H
#define K80FS_MEM_COMMIT_H

#include "mem/priv.h"

#define COMMIT_SOON_MS 100 /* what is not asked for is committed by then */
#define COMMIT_GROWN_MAX \
	(64 * MIB) /* or when so much was written behind ends */

/** commit_change_locked() - the table is to tell something else; die's lock */
void commit_change_locked(struct mem_die *d);

/**
 * commit_now() - it tells all that was changed before the call
 * Return: 0; -EIO, -ENOMEM: it stays as it was.
 */
int commit_now(struct mem_die *d);

/** commit_soon() - it will; @grown: bytes that a file has more */
void commit_soon(struct mem_die *d, uint64_t grown);

/** commit_wake() - have the thread that tends look around */
void commit_wake(struct mem *m);

/**
 * commit_has_room_locked() - for that much more than it has; die's lock
 */
bool commit_has_room_locked(const struct mem_die *d, unsigned int files,
			    unsigned int chunks);

#endif /* K80FS_MEM_COMMIT_H */
