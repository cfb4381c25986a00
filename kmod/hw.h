/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of other people's making that a swap needs.
 */
#ifndef _BS_HW_H
#define _BS_HW_H

#include "bs.h"

/**
 * bs_hw_lock() - rescan lock, device locks and config access
 * @dies: BIT(id) of each die involved; its bridges come with it
 * @flags: BS_HW_*
 *
 * The device locks are tried, never waited for with the rescan lock held: a
 * reset through sysfs holds one and waits for pciehp, which waits for the
 * rescan lock.
 *
 * Context: slot->lock held.
 * Return: 0; -EBUSY not within 75 s, or NOWAIT; -ERESTARTNOHAND a signal.
 */
int bs_hw_lock(struct bs_slot *slot, u32 dies, unsigned int flags);
#define BS_HW_NOWAIT  BIT(0)
#define BS_HW_SIGNALS BIT(1) /* a signal ends the wait */
#define BS_HW_ANYWAY  BIT(2) /* after 75 s go on with what could be had */
void bs_hw_unlock(struct bs_slot *slot, u32 dies);

#endif /* _BS_HW_H */
