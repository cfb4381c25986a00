/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is, and who keeps a die in. */
#ifndef BARSWAP_DEV_SIM_TURN_H
#define BARSWAP_DEV_SIM_TURN_H

#include "lib/sim.h"

/**
 * sim_lease_start_locked() - lease the die that is in
 * @pid:  of the holder
 * @here: it is this context
 */
void sim_lease_start_locked(struct sim *s, int pid, bool here) REQUIRES(s->lock);

/** sim_lease_end_locked() - end whatever lease there is and wake who waits */
void sim_lease_end_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_turn_take_locked() - wait for the turn
 *
 * Not interruptible: a turn lasts as long as a swap at most.
 */
void sim_turn_take_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_turn_wait_locked() - take the turn for an acquire of @die
 * @flags: BS_*, as of the acquire
 *
 * Waits for the turn, and for a lease of somebody else to end.
 *
 * Return: 0; -EBUSY leased by another and BS_NOWAIT or BS_FORCE_SBR; -EINTR.
 */
int sim_turn_wait_locked(struct sim *s, struct sim_die *die, unsigned int flags)
	REQUIRES(s->lock);

/** sim_turn_drop_locked() - give the turn back and wake who waits */
void sim_turn_drop_locked(struct sim *s) REQUIRES(s->lock);

#endif /* BARSWAP_DEV_SIM_TURN_H */
