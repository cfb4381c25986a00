/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One die or port by itself: what its config space says, how it is switched
 * off, and whether it fits the slot.
 *
 * Context: config access held by bs_hw_lock(), or the bus notifier's.
 */
#ifndef _BS_DIE_H
#define _BS_DIE_H

#include "bs.h"
#include "cfg.h"

/* Does it answer config reads? Recorded. */
bool bs_die_answers(struct bs_die *die);

/* Decode off; BUS_MASTER stays if a driver is bound. */
int bs_die_decode_off(const struct bs_cfg *c);

/* COMMAND 0 and BARs 0, over whatever a reset's restore left. */
int bs_die_settle(struct bs_die *die);

/* Do the registers of a die look as after a reset? */
bool bs_die_was_reset(struct bs_die *die);

/* Close both windows of a port; an error is added to @ret if that is 0. */
void bs_bridge_close(const struct bs_cfg *c, struct bs_bridge *br, int *ret);

#define BS_SLOT_BARS 3
extern const int bs_slot_bars[BS_SLOT_BARS];
u64 bs_slot_bar_addr(const struct bs_slot *slot, int bar);
u64 bs_slot_bar_size(const struct bs_slot *slot, int bar);

/* Why a sized die cannot be in the slot, or NULL. */
const char *bs_die_misfit(struct bs_die *die);

#endif /* _BS_DIE_H */
