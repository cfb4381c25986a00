/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a worker leaves its die: with the die in the slot, whoever ends it.
 *
 * The driver tears down what a process had on a GPU when the process's
 * descriptors of it and its mappings of it are gone, and reaches for the GPU
 * then. Taken out before that it falls off the bus (Xid 79). In which order the
 * kernel closes files at the end of a process is not to be relied on.
 */
#ifndef OWNER_WORKER_LEAVE_H
#define OWNER_WORKER_LEAVE_H

#include <stdatomic.h>

#include "lib/barswap.h"

/**
 * struct leave - what there is to leave
 * @bs:      the module; NULL: there is none
 * @spare:   the module once more, for the anchor: a lock of @bs may have been
 *           held by who was killed
 * @die:     which of its dies
 * @is_done: nothing is left to do
 * @pidfd:   leave_anchor()'s
 */
struct leave {
	bs_context *bs;
	bs_context *spare;
	int die;
	_Atomic int is_done;
	int pidfd;
};

/**
 * leave_die() - close and unmap all of the driver's with the die in, let it go
 *
 * Waits for the slot as long as another process leases it. Calls nothing that
 * allocates or locks: an anchor runs this beside what is left of a process that
 * was killed anywhere.
 */
void leave_die(struct leave *l);

/**
 * leave_anchor() - have leave_die() called also if this process is killed
 *
 * Starts a process that shares memory and descriptors with this one, so that
 * neither goes with it, and does nothing until then.
 *
 * Return: its pid; -errno: there is none.
 */
int leave_anchor(struct leave *l);

#endif /* OWNER_WORKER_LEAVE_H */
