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

/**
 * sim_slot_lease_away() - acquire by another process, with a lease
 * @pid: its pid, > 0
 *
 * Waits up to a few seconds for our own lease to end.
 *
 * Return: 0; -EBUSY, -ENODEV, -EIO as that acquire would say.
 */
int sim_slot_lease_away(struct sim *s, struct sim_die *die, int pid)
	EXCLUDES(s->lock);

/** sim_slot_release() - as bs_release_flags(), for a die of @s */
int sim_slot_release(struct sim *s, struct sim_die *die, unsigned int flags)
	EXCLUDES(s->lock);

/** sim_slot_check() - as bs_check(), for a die of @s */
int sim_slot_check(struct sim *s, struct sim_die *die, struct bs_health *health)
	EXCLUDES(s->lock);

/**
 * sim_slot_access() - may this context touch the memory of a die now
 * Return: 0; -ENODEV; -ENXIO it is not in; -EBUSY a driver is bound or BAR1 is
 * virtual; -EIO it is dead or has no memory.
 */
int sim_slot_access(struct sim *s, struct sim_die *die) EXCLUDES(s->lock);

/**
 * sim_slot_lose_locked() - take a die out that cannot stay, if it is in
 *
 * For what happens to a die without anybody's acquire: a removal, a stranger
 * on its card. Its lease ends.
 *
 * Context: holder of the turn. Drops the lock and takes it again.
 */
void sim_slot_lose_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

/**
 * sim_slot_show_locked() - show or hide the die that is in, as its state asks
 *
 * Nothing to do for a die that is out.
 *
 * Context: holder of the turn. Drops the lock and takes it again.
 * Return: 0 or -errno.
 */
int sim_slot_show_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

/**
 * sim_slot_probe_locked() - ask a die, if it is in, how BAR1 and memory are
 *
 * Without a driver a BAR1 that is virtual is made physical first.
 *
 * Context: as sim_slot_show_locked().
 * Return: 0 or -errno.
 */
int sim_slot_probe_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

#endif /* BARSWAP_DEV_SIM_SLOT_H */
