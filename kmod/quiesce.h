/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First contact at load.
 */
#ifndef _BS_QUIESCE_H
#define _BS_QUIESCE_H

#include "bs.h"

/* First contact at load: decode off, sizes, BARs 0, windows closed. */
void bs_chain_quiesce_all(struct bs_slot *slot);

#endif /* _BS_QUIESCE_H */
