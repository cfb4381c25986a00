/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is, and who keeps a die in. */
#ifndef BARSWAP_DEV_SIM_TURN_H
#define BARSWAP_DEV_SIM_TURN_H

#include "lib/sim.h"

#define SIM_HERE 0 /* as a pid: this context, the one open file there is */

/**
 * sim_lease_start_locked() - lease the die that is in
 * @pid: of the holder, or SIM_HERE
 */
void sim_lease_start_locked(struct sim *s, int pid) REQUIRES(s->lock);

/** sim_lease_end_locked() - end whatever lease there is and wake who waits */
void sim_lease_end_locked(struct sim *s) REQUIRES(s->lock);

/** sim_lease_prune_locked() - end the lease of a die that is not in any more */
void sim_lease_prune_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_is_leased_away_locked() - does somebody else have the lease
 * @pid: who asks, or SIM_HERE
 */
bool sim_is_leased_away_locked(struct sim *s, int pid) REQUIRES(s->lock);

/**
 * sim_turn_take_locked() - wait for the turn
 *
 * Not interruptible: a turn lasts as long as a swap at most.
 */
void sim_turn_take_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_turn_wait_locked() - take the turn once no lease of others is in the way
 * @pid:    who asks, or SIM_HERE
 * @end_ns: when to give up, of now_ns(); 0: at once; UINT64_MAX: never
 *
 * Return: 0; -EBUSY given up; -EINTR a signal.
 */
int sim_turn_wait_locked(struct sim *s, int pid, uint64_t end_ns)
	REQUIRES(s->lock);

/** sim_turn_drop_locked() - give the turn back and wake who waits */
void sim_turn_drop_locked(struct sim *s) REQUIRES(s->lock);

#endif /* BARSWAP_DEV_SIM_TURN_H */
