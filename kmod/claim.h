/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The active chain's structs in the iomem tree; no register.
 *
 * Context: rescan lock held.
 */
#ifndef _BS_CLAIM_H
#define _BS_CLAIM_H

#include "bs.h"

/* Structs of a die and its path filled and claimed, top-down. */
int bs_claim_all(struct bs_die *die);
/* Out of the tree, bottom-up, blanked, and the place held again. */
void bs_unclaim_all(struct bs_die *die);

#endif /* _BS_CLAIM_H */
