/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Suspend and reboot.
 */
#ifndef _BS_POWER_H
#define _BS_POWER_H

#include "bs.h"

int bs_power_register(struct bs_slot *slot);
void bs_power_unregister(struct bs_slot *slot);

#endif /* _BS_POWER_H */
