/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the simulator share: dies made of sparse files, one shown
 * at a time. Each file's own contract stands in the header of its name; their
 * order, each calling those before it only: dev_sim_opt, dev_sim_mem,
 * dev_sim_tell, dev_sim_turn, dev_sim_slot, dev_sim_ctl, dev_sim_sock, dev_sim.
 *
 * Whoever changes mappings or who is in the slot holds the turn. It is a flag
 * under the lock and not the lock, which is never held across anything slow:
 * bs_die_info() must not wait for a swap.
 */
#ifndef BARSWAP_SIM_H
#define BARSWAP_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "kmod/region.h"
#include "lib/dev.h"

struct CAPABILITY sim_lock {
	pthread_mutex_t mutex;
};

/**
 * struct sim_errno - an error that may be ordered
 * @name:  "EIO"
 * @value: EIO
 */
struct sim_errno {
	const char *name;
	int value;
};

struct sim_die {
	/* immutable */
	int id;
	int fd;
	char *addr; /* its own range, the same for good */
	char *stash; /* its page tables while it is out; NULL: not kept */
	char bdf[16];

	bool is_shown; /* its file is at addr; of the holder of the turn */

	/* written under the lock, read by bs_check() without it */
	atomic_bool dead;
	_Atomic uint64_t generation;

	/* under the lock */
	bool no_vram;
	bool is_virtual; /* what bar1_mode becomes at the next acquire */
	int bar1_mode;
	char driver[32];
	uint64_t fail_in; /* programming acquires until one fails; 0: none */
	const struct sim_errno *fail;
	uint64_t resets, acquires, swaps_in, swaps_out, last_swap_ns;
	char last_error[256];
};

struct sim {
	struct bs_dev dev;
	/* immutable */
	unsigned int n_dies;
	uint64_t vram_bytes; /* carve-out included */
	struct bs_region region;
	int dir_fd; /* locked folder, -1 for unlinked files */
	int empty_fd; /* shown by every die that is not in */
	struct sim_sock *sock; /* NULL without ctl= */

	struct sim_lock lock;
	bool turn; /* under the lock: taken by somebody */
	/* raised when the turn or a lease ended; a futex */
	_Atomic uint32_t change;
	uint32_t sleepers; /* under the lock: threads waiting for that */

	/* written by the holder of the turn under the lock, read anywhere */
	atomic_int active; /* -1: vacant */

	/* under the lock */
	uint32_t swap_us;
	uint32_t waiters; /* acquires waiting for a lease to end */
	int lease_pid; /* who leases the die that is in; 0: nobody */
	bool leased_here;
	char lease_comm[16];

	struct sim_die die[BS_DEV_MAX_DIES];
};

static inline void sim_take(struct sim *s) ACQUIRES(s->lock) NO_TSA
{
	pthread_mutex_lock(&s->lock.mutex);
}

static inline void sim_drop(struct sim *s) RELEASES(s->lock) NO_TSA
{
	pthread_mutex_unlock(&s->lock.mutex);
}

#endif /* BARSWAP_SIM_H */
