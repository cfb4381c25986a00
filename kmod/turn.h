/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose turn it is, and who keeps a die in.
 */
#ifndef _BS_TURN_H
#define _BS_TURN_H

#include "bs.h"

/**
 * bs_turn_take() - wait for the right to change the slot
 * @slot:   the slot
 * @client: who asks; NULL: the module itself
 * @heeds_lease: also wait for another file's lease to end
 * @nowait: -EBUSY instead of waiting
 *
 * First come, first served. The owner of a lease passes those who wait for it
 * to end.
 *
 * Return: 0; -EBUSY; -ERESTARTNOHAND a signal.
 */
int bs_turn_take(struct bs_slot *slot, struct bs_client *client,
		 bool heeds_lease, bool nowait);
void bs_turn_give(struct bs_slot *slot);
void bs_turn_give_locked(struct bs_slot *slot); /* info_lock held */

/* The lease; all take info_lock. */
void bs_lease_take(struct bs_client *client, struct bs_die *die);
/* End a lease on a die that is no longer in. */
void bs_lease_prune(struct bs_slot *slot);
/* End a lease if @client (NULL: whoever) holds it on @die (NULL: any). */
void bs_lease_drop(struct bs_slot *slot, struct bs_client *client,
		   struct bs_die *die);
/* Does another file than @client hold a lease on @die (NULL: any)? */
bool bs_lease_is_foreign(struct bs_slot *slot, struct bs_client *client,
			 struct bs_die *die);

#endif /* _BS_TURN_H */
