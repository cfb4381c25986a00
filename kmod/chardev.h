/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/bar_swap.
 */
#ifndef _BS_CHARDEV_H
#define _BS_CHARDEV_H

#include "bs.h"

int bs_chardev_register(struct bs_slot *slot);
void bs_chardev_unregister(void);

#endif /* _BS_CHARDEV_H */
