/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bus resets.
 */
#ifndef _BS_RESET_H
#define _BS_RESET_H

#include "bs.h"

int bs_reset_init(struct bs_slot *slot);
void bs_reset_exit(struct bs_slot *slot); /* waits for one under way */

/**
 * bs_reset_run() - reset a die's bus and wait for it
 * @counts: it was asked for and raises the generation
 * @nowait: begin it and leave
 *
 * Context: turn held, no lock.
 * Return: 0; -EIO the die did not come back; -EBUSY it was locked by others
 * for a second, or a driver has been bound; -ENODEV it was removed;
 * -EINPROGRESS @nowait, or a signal: the reset goes on, and the turn is no
 * longer the caller's.
 */
int bs_reset_run(struct bs_die *die, bool counts, bool nowait);

#endif /* _BS_RESET_H */
