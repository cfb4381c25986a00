// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated slot: swaps. */
#include "lib/dev_sim_slot.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "lib/dev_sim_mem.h"
#include "lib/dev_sim_tell.h"
#include "lib/dev_sim_turn.h"

int sim_vacate_locked(struct sim *s)
{
	struct sim_die *die;
	int ret;

	if (s->active < 0)
		return 0;
	die = &s->die[s->active];
	/* first: a copy that ends after this must not count as good */
	s->active = -1;
	sim_drop(s);
	ret = sim_mem_hide(s, die);
	sim_take(s);
	if (ret) {
		s->active = die->id;
		errno = -ret;
		sim_error_locked(s, die, "release: unmap: %m");
		return ret;
	}
	die->swaps_out++;
	sim_lease_end_locked(s);
	return 0;
}

int sim_seat_locked(struct sim *s, struct sim_die *die)
{
	int ret;

	if (die->dead) {
		sim_error_locked(s, die, "acquire: BAR0 reads 0xffffffff");
		return -EIO;
	}
	if (!die->no_vram) {
		ret = sim_mem_show(s, die);
		if (ret) {
			errno = -ret;
			sim_error_locked(s, die, "acquire: map: %m");
			return ret;
		}
	}
	die->swaps_in++;
	s->active = die->id;
	return 0;
}

int sim_update_locked(struct sim *s, struct sim_die *die)
{
	int ret = 0;

	/* the holder of a turn may be a swap that will look at the die itself;
	 * nobody else's swap may hold up a die that falls off the bus */
	if (s->active != die->id)
		return 0;
	sim_turn_take_locked(s);
	if (s->active == die->id && !die->dead && !die->no_vram) {
		ret = sim_mem_show(s, die);
	} else if (s->active == die->id) {
		sim_drop(s);
		ret = sim_mem_hide(s, die);
		sim_take(s);
	}
	sim_turn_drop_locked(s);
	return ret;
}

/* Errors of an acquire that leave everything as it was. */
static bool changes_nothing(int error)
{
	switch (error) {
	case EBUSY:
	case EINVAL:
	case ENODEV:
	case EPERM:
	case EINTR:
		return true;
	}
	return false;
}

/* May drivers stand in the way of this swap? */
static int check_drivers_locked(struct sim *s, struct sim_die *die,
				unsigned int flags) REQUIRES(s->lock);
static int check_drivers_locked(struct sim *s, struct sim_die *die,
				unsigned int flags)
{
	struct sim_die *old = s->active >= 0 ? &s->die[s->active] : NULL;
	struct sim_die *bound = NULL;

	if (*die->driver)
		bound = die;
	else if (old && *old->driver)
		bound = old;
	if (!bound)
		return 0;
	/* not even by force: a reset under a driver */
	if ((flags & BS_FORCE) && !(bound == die && (flags & BS_FORCE_SBR)))
		return 0;
	sim_error_locked(s, die, "acquire: driver %s is bound to die %d",
			 bound->driver, bound->id);
	return -EBUSY;
}

/* The error that was ordered for this acquire, or 0. */
static int injected_error_locked(struct sim *s, struct sim_die *die)
	REQUIRES(s->lock);
static int injected_error_locked(struct sim *s, struct sim_die *die)
{
	if (!die->fail_in || --die->fail_in)
		return 0;
	sim_error_locked(s, die, "acquire: injected %s", die->fail->name);
	return die->fail->value;
}

/* Sleep for the time of a swap, whatever signals come. */
static void sleep_swap(uint64_t start_ns, uint32_t swap_us)
{
	uint64_t end_ns = start_ns + swap_us * NSEC_PER_USEC;
	struct timespec end = {
		.tv_sec = (time_t)(end_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(end_ns % NSEC_PER_SEC),
	};

	if (!swap_us)
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) ==
	       EINTR)
		;
}

/*
 * Reset the bus of a die that is out. The first one costs no contents, as a
 * caller cannot have put any there.
 */
static int reset_locked(struct sim *s, struct sim_die *die, unsigned int flags)
	REQUIRES(s->lock);
static int reset_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	int ret;

	if (!(flags & BS_FORCE_SBR)) {
		die->resets += !die->resets;
		return 0;
	}
	die->resets++;
	die->generation++;
	sim_drop(s);
	ret = sim_mem_wipe(s, die);
	sim_take(s);
	if (ret) {
		errno = -ret;
		sim_error_locked(s, die, "reset: clear memory: %m");
	}
	return ret;
}

/* Caller holds the turn. */
static int swap_locked(struct sim *s, struct sim_die *die, unsigned int flags)
	REQUIRES(s->lock);
static int swap_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	uint64_t start_ns = now_ns();
	uint32_t swap_us = s->swap_us;
	int injected, ret;

	ret = check_drivers_locked(s, die, flags);
	if (ret)
		return ret;
	injected = injected_error_locked(s, die);
	if (changes_nothing(injected))
		return -injected;

	ret = sim_vacate_locked(s);
	if (ret)
		return ret;
	sim_drop(s);
	sleep_swap(start_ns, swap_us);
	sim_take(s);
	if (injected)
		return -injected;
	ret = reset_locked(s, die, flags);
	if (ret)
		return ret;
	ret = sim_seat_locked(s, die);
	if (ret)
		return ret;
	die->last_swap_ns = now_ns() - start_ns;
	return 0;
}

/* Caller holds the turn. */
static int bring_in_locked(struct sim *s, struct sim_die *die,
			   unsigned int flags) REQUIRES(s->lock);
static int bring_in_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	int ret;

	if (s->active != die->id || (flags & BS_FORCE_SBR))
		return swap_locked(s, die, flags);
	if (!die->dead)
		return 0;
	ret = sim_vacate_locked(s);
	if (ret)
		return ret;
	sim_error_locked(s, die, "acquire: BAR0 reads 0xffffffff");
	return -EIO;
}

int sim_slot_acquire(struct sim *s, struct sim_die *die, unsigned int flags)
{
	int ret;

	sim_take(s);
	ret = sim_turn_wait_locked(s, die, flags);
	if (ret)
		goto out_drop;
	ret = bring_in_locked(s, die, flags);
	if (!ret) {
		die->acquires++;
		die->bar1_mode =
			die->is_virtual ? BS_MODE_VIRTUAL : BS_MODE_PHYSICAL;
		if (die->no_vram)
			sim_error_locked(
				s, die, "acquire: its memory is not initialised");
		if (flags & BS_LEASE)
			sim_lease_start_locked(s, getpid(), true);
	}
	sim_turn_drop_locked(s);
out_drop:
	sim_drop(s);
	return ret;
}

int sim_slot_release(struct sim *s, struct sim_die *die)
{
	int ret = 0;

	sim_take(s);
	sim_turn_take_locked(s);
	if (s->active == die->id && s->lease_pid && !s->leased_here)
		ret = -EBUSY;
	else if (s->active == die->id)
		ret = sim_vacate_locked(s);
	sim_turn_drop_locked(s);
	sim_drop(s);
	return ret;
}
