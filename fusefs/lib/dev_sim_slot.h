/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated slot: one die in it, or none. */
#ifndef BARSWAP_DEV_SIM_SLOT_H
#define BARSWAP_DEV_SIM_SLOT_H

#include "lib/sim.h"

/**
 * sim_slot_acquire() - as bs_acquire_flags(), for a die of @s
 *
 * Context: waits for leases and turns, interruptibly; then sleeps for the
 * time of a swap.
 */
int sim_slot_acquire(struct sim *s, struct sim_die *die, unsigned int flags)
	EXCLUDES(s->lock);

/** sim_slot_release() - as bs_release_die(), for a die of @s */
int sim_slot_release(struct sim *s, struct sim_die *die) EXCLUDES(s->lock);

/**
 * sim_vacate_locked() - take out the die that is in, if any; ends a lease
 *
 * Context: holder of the turn. Drops the lock and takes it again.
 * Return: 0; -errno the mapping could not be replaced: the die is still in.
 */
int sim_vacate_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_seat_locked() - put a die into the vacant slot
 *
 * Context: holder of the turn.
 * Return: 0; -EIO it is dead; -errno it could not be mapped.
 */
int sim_seat_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

/**
 * sim_update_locked() - show or hide the die that is in, as its faults ask
 *
 * For after a change of dead or no_vram. Nothing to do for a die that is out.
 *
 * Context: takes the turn; drops the lock and takes it again.
 * Return: 0 or -errno.
 */
int sim_update_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

#endif /* BARSWAP_DEV_SIM_SLOT_H */
