/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ACQUIRE.
 */
#ifndef _BS_ACQUIRE_H
#define _BS_ACQUIRE_H

#include "bs.h"

int bs_slot_acquire(struct bs_client *client, struct bs_acquire_req *req,
		    bool nowait);

#endif /* _BS_ACQUIRE_H */
