/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the CPU caches BAR1: write-combining, or it is told.
 *
 * Context: map_lock held for write.
 */
#ifndef _BS_MEMTYPE_H
#define _BS_MEMTYPE_H

#include "bs.h"

/**
 * bs_memtype_reserve() - have BAR1 of the die that decodes write-combining
 *
 * Nothing is reserved while a driver is bound: its own uncached mappings of
 * BAR1 would silently become write-combining. What users' pages will be is
 * told as BS_DIE_F_BAR1_WC or _UC; uncached without a driver is an error in
 * the die's last_error and the log, and the die works on, slowly.
 */
void bs_memtype_reserve(struct bs_die *die);

/* Give it back; after the zap. */
void bs_memtype_free(struct bs_slot *slot);

#endif /* _BS_MEMTYPE_H */
