/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What others do to our devices.
 */
#ifndef _BS_NOTIFY_H
#define _BS_NOTIFY_H

#include "bs.h"

int bs_notify_register_bus(struct bs_slot *slot);
void bs_notify_unregister_bus(struct bs_slot *slot);
/* Note the driver a die has at load; its device_lock is held. */
void bs_notify_found_driver(struct bs_die *die);
void bs_notify_forget_driver(struct bs_die *die);

#endif /* _BS_NOTIFY_H */
