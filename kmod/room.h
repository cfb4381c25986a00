/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slot's place in the iomem tree.
 */
#ifndef _BS_ROOM_H
#define _BS_ROOM_H

#include "bs.h"

/**
 * bs_slot_find_room() - is the slot's place free
 *
 * Context: rescan lock held.
 * Return: 0; -ENXIO no host bridge window contains it; -EBUSY something else
 * is there. Both are logged with names.
 */
int bs_slot_find_room(struct bs_slot *slot);

/* The placeholders of the slot. Rescan lock held. */
int bs_hold_place(struct bs_slot *slot);
void bs_drop_place(struct bs_slot *slot);

/*
 * Placeholders over the ranges that the root ports' windows had at load, the
 * slot excepted: what is to be put back must not be given to anybody else.
 * Rescan lock held.
 */
void bs_hold_chains(struct bs_slot *slot);
void bs_drop_chains(struct bs_slot *slot);

#endif /* _BS_ROOM_H */
