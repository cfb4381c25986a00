/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the simulator: dies made of sparse files, one shown at a time.
 *
 * Whoever changes mappings or who is in the slot holds the turn. It is a flag
 * under the lock and not the lock, which is never held across anything slow:
 * bs_die_info() must not wait for a swap.
 */
#ifndef BARSWAP_DEV_SIM_H
#define BARSWAP_DEV_SIM_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "base/util.h"
#include "kmod/region.h"
#include "lib/dev.h"

#define SIM_PAGE        4096u
#define SIM_SWAP_US_MAX (100u * 1000 * 1000)

struct CAPABILITY sim_lock {
	pthread_mutex_t mutex;
};

/**
 * struct sim_conf - what the options ask for
 * @n_dies:     1 .. BS_DEV_MAX_DIES
 * @vram_bytes: memory of a die, a multiple of SIM_PAGE
 * @resmem_bytes: of it, the least a carve-out at its end is to have; 0: none
 * @swap_us:    time a swap takes, at most SIM_SWAP_US_MAX
 * @dir:        folder of the memory files, or "" for unlinked ones
 * @ctl:        path of the control socket, or ""
 */
struct sim_conf {
	unsigned int n_dies;
	uint64_t vram_bytes;
	uint64_t resmem_bytes;
	uint32_t swap_us;
	char dir[PATH_MAX];
	char ctl[sizeof(((struct sockaddr_un *)0)->sun_path)];
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

/* dev_sim_opt.c: pure */

/**
 * sim_parse_u64() - a decimal number and nothing else
 * @text:  digits
 * @max:   largest value allowed
 * @value: out
 *
 * Return: 0; -EINVAL no number, or above @max.
 */
int sim_parse_u64(const char *text, uint64_t max, uint64_t *value);

/**
 * sim_parse_conf() - read "NAME=VALUE,..."
 * @options: text of bs_init_device() after "sim:"; "" leaves the defaults
 * @conf:    out: set on success only
 *
 * Return: 0; -EINVAL unknown name, bad value, empty item; -ENOMEM.
 */
int sim_parse_conf(const char *options, struct sim_conf *conf);

/* dev_sim_mem.c: what a die's memory is and who sees it */

/**
 * sim_mem_open() - make or open the files and reserve the address ranges
 * @s:   its n_dies and vram_bytes are set, all descriptors are -1
 * @dir: folder, or "" for unlinked files in $TMPDIR or /var/tmp
 *
 * On failure what was opened is left to sim_mem_close().
 *
 * Return: 0; -EBUSY @dir is in use; -EINVAL a file of another size; -errno.
 */
int sim_mem_open(struct sim *s, const char *dir);

/** sim_mem_close() - unmap and close all that sim_mem_open() made */
void sim_mem_close(struct sim *s);

/**
 * sim_mem_show() - map the file of a die into its range
 *
 * Context: holder of the turn. Quick: there are no pages to take down.
 * Return: 0 or -errno.
 */
int sim_mem_show(struct sim *s, struct sim_die *die);

/**
 * sim_mem_hide() - from now on touching the range of a die raises SIGBUS
 *
 * Context: holder of the turn, without the lock: it may take pages down.
 * Return: 0 or -errno.
 */
int sim_mem_hide(struct sim *s, struct sim_die *die);

/**
 * sim_mem_zero() - clear part of a die; holes where the file system can
 * @off: bytes
 * @len: bytes, > 0, inside the memory
 *
 * Return: 0 or -errno.
 */
int sim_mem_zero(struct sim_die *die, uint64_t off, uint64_t len);

/**
 * sim_mem_wipe() - clear all of a die, as a reset does
 *
 * Where no holes can be punched the file is cut and grown again: somebody
 * who touches the memory meanwhile gets SIGBUS.
 *
 * Return: 0 or -errno.
 */
int sim_mem_wipe(struct sim *s, struct sim_die *die);

/* dev_sim_slot.c: who is in the slot */

/**
 * sim_slot_acquire() - as bs_acquire_flags(), for a die of @s
 *
 * Context: waits for leases and turns, interruptibly; then sleeps for the
 * time of a swap.
 */
int sim_slot_acquire(struct sim *s, struct sim_die *die, unsigned int flags)
	EXCLUDES(s->lock);

/** sim_slot_release() - as bs_release_die(), for a die of @s */
int sim_slot_release(struct sim *s, struct sim_die *die) EXCLUDES(s->lock);

/**
 * sim_lease_start_locked() - lease the die that is in
 * @pid:  of the holder
 * @here: it is this context
 */
void sim_lease_start_locked(struct sim *s, int pid, bool here) REQUIRES(s->lock);

/** sim_lease_end_locked() - end whatever lease there is and wake who waits */
void sim_lease_end_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_turn_take_locked() - wait for the turn
 *
 * Not interruptible: a turn lasts as long as a swap at most.
 */
void sim_turn_take_locked(struct sim *s) REQUIRES(s->lock);

/** sim_turn_drop_locked() - give the turn back and wake who waits */
void sim_turn_drop_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_vacate_locked() - take out the die that is in, if any; ends a lease
 *
 * Context: holder of the turn. Drops the lock and takes it again.
 * Return: 0; -errno the mapping could not be replaced: the die is still in.
 */
int sim_vacate_locked(struct sim *s) REQUIRES(s->lock);

/**
 * sim_seat_locked() - put a die into the vacant slot
 *
 * Context: holder of the turn.
 * Return: 0; -EIO it is dead; -errno it could not be mapped.
 */
int sim_seat_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

/**
 * sim_update_locked() - show or hide the die that is in, as its faults ask
 *
 * For after a change of dead or no_vram. Nothing to do for a die that is out.
 *
 * Context: takes the turn; drops the lock and takes it again.
 * Return: 0 or -errno.
 */
int sim_update_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);

/** sim_error_locked() - set last_error: time, die and what is printed */
__attribute__((format(printf, 3, 4))) void
sim_error_locked(struct sim *s, struct sim_die *die, const char *format, ...)
	REQUIRES(s->lock);

/* dev_sim_ctl.c */

/** sim_ctl_order() - as bs_sim_order(); @order is not NULL */
int sim_ctl_order(struct sim *s, const char *order);

/* dev_sim_sock.c */

/**
 * sim_sock_open() - listen for orders on a unix stream socket
 * @s:    simulator, complete
 * @path: of the socket; a stale one is replaced
 * @sock: out
 *
 * Starts a thread, which has all signals blocked.
 *
 * Return: 0; -EADDRINUSE somebody listens there or it is no socket; -errno.
 */
int sim_sock_open(struct sim *s, const char *path, struct sim_sock **sock);

/** sim_sock_close() - end the thread, unlink the path; NULL is fine */
void sim_sock_close(struct sim_sock *sock);

#endif /* BARSWAP_DEV_SIM_H */
