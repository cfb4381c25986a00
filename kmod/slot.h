/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slot: one die in it, or none.
 */
#ifndef _BS_SLOT_H
#define _BS_SLOT_H

#include "bs.h"

void bs_slot_init(struct bs_slot *slot);
struct bs_die *bs_slot_die(struct bs_slot *slot, u32 id); /* or NULL */
int bs_slot_release(struct bs_client *client, const struct bs_release_req *req,
		    bool nowait);
int bs_slot_unlease(struct bs_client *client, u32 die_id);
int bs_slot_check_die(struct bs_slot *slot, struct bs_check *check);

/**
 * bs_slot_look_again() - the registers of a die are not as on record
 *
 * Zaps every mapping of the die, if it is still in, and asks it again.
 *
 * Context: takes map_lock for write.
 */
void bs_slot_look_again(struct bs_die *die);

/*
 * map_lock for write, with every user mapping of the die that is in zapped and
 * the slot told as vacant; and back, telling who is in.
 */
void bs_slot_lock_map(struct bs_slot *slot);
void bs_slot_unlock_map(struct bs_slot *slot);

/* What is in leaves. map_lock held for write, hardware locked. */
void bs_slot_take_out_locked(struct bs_slot *slot);

/* With verbose=1, a line of what a swap has done; either may be NULL. */
void bs_slot_tell(struct bs_slot *slot, struct bs_die *out, struct bs_die *in);

/* Does a driver keep @die (NULL: no) where it is? @wanted gets the reason. */
bool bs_slot_has_driver(struct bs_die *die, struct bs_die *wanted);

/* Zap every user mapping of the die that is in. map_lock held for write. */
void bs_slot_revoke_locked(struct bs_slot *slot);

/**
 * bs_slot_vacate() - take out whatever is in
 * @how: BS_HW_*
 *
 * Context: slot->lock held.
 * Return: 0; -EBUSY a driver is bound to it; as bs_hw_lock().
 */
int bs_slot_vacate(struct bs_slot *slot, unsigned int how);

/* Vacate and put everything back, once. Caller holds slot->lock. */
void bs_slot_restore(struct bs_slot *slot);

/* BIT(id) of every die of a chain that is managed. */
u32 bs_slot_all(struct bs_slot *slot);

#endif /* _BS_SLOT_H */
