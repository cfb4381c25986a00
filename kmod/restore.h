/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How everything was found, and how it gets back there.
 *
 * Context: rescan lock held.
 */
#ifndef _BS_RESTORE_H
#define _BS_RESTORE_H

#include "bs.h"

/* Forbid the core to power a device down. */
void bs_hold_power(struct bs_dev *dev);

/* Remember registers and resources of all; no powering down. */
void bs_keep_all(struct bs_slot *slot);
void bs_unkeep_all(struct bs_slot *slot);

/*
 * The regions of a driver that has left while its die was out: the core has
 * not found them, and their names may go with its module. map_lock for write;
 * the rescan lock is not needed, since no BAR that is in the tree is touched.
 */
void bs_drop_regions(struct bs_die *die);

/* Take what moves of a die or bridge out of the tree and blank it. */
void bs_blank_die(struct bs_die *die);
void bs_blank_bridge(struct bs_bridge *br);
/* The same for all, bottom-up. */
void bs_blank_all(struct bs_slot *slot);
/* Structs as found and claimed again, top-down; what cannot be stays blank. */
void bs_unblank_all(struct bs_slot *slot);
/*
 * Decode off; the structs and their claims; the registers of what has a claim
 * again or never had one; COMMAND last. The rest stays closed and at 0.
 */
void bs_restore_all(struct bs_slot *slot);

#endif /* _BS_RESTORE_H */
