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
	bool is_new; /* its file was made by this open */
	char *addr; /* its own range, the same for good */
	char *stash; /* its page tables while it is out; NULL: not kept */
	char bdf[16];

	/* its mapping was given out: the address, once given, is good for ever */
	bool is_mapped; /* under the lock */
	bool is_shown; /* its file is at addr; of the holder of the turn */

	/*
	 * What a look at the hardware would find. Written under the lock, read
	 * by bs_check() without it.
	 */
	atomic_bool is_dead; /* reads all-ones */
	atomic_bool is_gone; /* removed from the bus */
	atomic_bool is_bar1_virtual; /* BAR0 + 0x1704 bit 31 */
	atomic_bool is_bar1_stuck; /* and whoever clears it is not heeded */
	bool is_cold; /* its memory is not initialised; under the lock */

	/*
	 * What is on record since the last look. Written under the lock; those
	 * that bs_check() needs are read without it.
	 */
	_Atomic uint64_t generation;
	atomic_bool is_alive;
	atomic_bool has_driver;
	atomic_int bar1_mode;
	/* under the lock */
	bool is_unusable;
	bool has_vram; /* as told */
	bool is_mappable; /* as BAR1 was found when it came in */
	char driver[32];
	uint64_t fail_in; /* programming acquires until one fails; 0: none */
	const struct sim_errno *fail;
	uint64_t resets, acquires, swaps_in, swaps_out, last_swap_ns;
	char last_error[256];
};

/* Who may do what: of the process, or as ordered. */
enum sim_cap {
	SIM_CAP_OWN,
	SIM_CAP_NO,
	SIM_CAP_YES,
};

struct sim {
	struct bs_dev dev;
	/* immutable */
	unsigned int n_dies;
	uint64_t vram_bytes; /* carve-out included */
	struct bs_region region;
	int dir_fd; /* locked folder, -1 for unlinked files */
	int empty_fd; /* shown by every die that is not in */
	int poll_fd; /* POLLPRI once something was told; -1: cannot be had */
	int event_fd; /* its other end */
	struct sim_sock *sock; /* NULL without ctl= */

	struct sim_lock lock;
	bool turn; /* under the lock: taken by somebody */
	/* raised when the turn or a lease ended; a futex */
	_Atomic uint32_t change;
	uint32_t sleepers; /* under the lock: threads waiting for that */

	/* written by the holder of the turn under the lock, read anywhere */
	atomic_int active; /* -1: vacant */
	atomic_int cap; /* enum sim_cap */

	/* under the lock */
	bool is_event_told; /* poll_fd has POLLPRI */
	bool sees_driver_mem; /* may touch a die with a driver; set once */
	uint32_t swap_us;
	uint32_t waiters; /* acquires waiting for a lease to end */
	int lease_pid; /* who has the lease; 0: nobody */
	int lease_die; /* of which die; it outlives a swap out and in again */
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
