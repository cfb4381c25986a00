/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the API's files: what a bs_context is. */
#ifndef BARSWAP_CONTEXT_H
#define BARSWAP_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/dev.h"

/**
 * struct bs_context - an open device and who uses its dies through it
 * @dev:             immutable
 * @n_dies:          as of the last bs_refresh()
 * @n_slots:         likewise
 * @flags:           BS_FORCE or 0, of calls that have no flags of their own
 * @sees_driver_mem: an acquire with BS_DRIVER_MEM has succeeded; set once
 * @lock:            guards what follows; held over a release, so that nobody
 *                   gets a handle of a die that is just leaving
 * @n_handles:       of each die, given by bs_acquire() and not released
 * @lease_die:       leased without a handle, -1 for none: bs_release() of a
 *                   handle must not end it
 */
struct bs_context {
	struct bs_dev *dev;
	atomic_uint n_dies;
	atomic_uint n_slots;
	atomic_uint flags;
	atomic_bool sees_driver_mem;
	pthread_mutex_t lock;
	unsigned int n_handles[BS_DEV_MAX_DIES];
	int lease_die;
};

#endif /* BARSWAP_CONTEXT_H */
