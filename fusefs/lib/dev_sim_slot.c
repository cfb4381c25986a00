// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated slot: swaps, and the module's rules about them. */
#include "lib/dev_sim_slot.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/dev_sim_mem.h"
#include "lib/dev_sim_tell.h"
#include "lib/dev_sim_turn.h"

#define RAWIO_FLAGS    (BS_FORCE_SBR | BS_FORCE | BS_DRIVER_MEM)
#define LEASE_AWAY_SEC 5
#define DEAD_TEXT      "BAR0 reads 0xffffffff"

/* Has the calling thread the capability, or was it told so? */
static bool has_rawio(const struct sim *s)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (s->cap != SIM_CAP_OWN)
		return s->cap == SIM_CAP_YES;
	if (syscall(SYS_capget, &head, data))
		return false;
	return data[CAP_TO_INDEX(CAP_SYS_RAWIO)].effective &
	       CAP_TO_MASK(CAP_SYS_RAWIO);
}

/* May this context touch the memory of the die that is in? */
static bool is_touchable_locked(const struct sim *s, const struct sim_die *die)
	REQUIRES(s->lock);
static bool is_touchable_locked(const struct sim *s, const struct sim_die *die)
{
	if (die->is_dead || !die->is_mappable)
		return false;
	if (s->sees_driver_mem)
		return true;
	return !die->has_driver && die->bar1_mode != BS_MODE_VIRTUAL;
}

int sim_slot_access(struct sim *s, struct sim_die *die)
{
	int ret = 0;

	sim_take(s);
	if (die->is_gone)
		ret = -ENODEV;
	else if (s->active != die->id)
		ret = -ENXIO;
	else if (!is_touchable_locked(s, die))
		ret = die->is_dead || !die->is_mappable ? -EIO : -EBUSY;
	sim_drop(s);
	return ret;
}

int sim_slot_show_locked(struct sim *s, struct sim_die *die)
{
	int ret;

	if (s->active != die->id)
		return 0;
	if (is_touchable_locked(s, die))
		return sim_mem_show(s, die);
	sim_drop(s);
	ret = sim_mem_hide(s, die);
	sim_take(s);
	return ret;
}

/* What the registers of the die that comes in, or is in, say. */
static void probe_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);
static void probe_locked(struct sim *s, struct sim_die *die)
{
	int mode;

	mode = die->is_bar1_virtual ? BS_MODE_VIRTUAL : BS_MODE_PHYSICAL;
	/* a driver owns the way to ask, and a live GPU its memory */
	die->has_vram =
		!die->is_cold || die->has_driver || mode == BS_MODE_VIRTUAL;
	die->is_mappable = die->has_vram;
	if (die->bar1_mode != mode)
		sim_event_locked(s);
	die->bar1_mode = mode;
	if (!die->has_vram)
		sim_error_locked(s, die,
				 "acquire: its memory is not initialised");
}

/* An acquire, or a driver that leaves, makes BAR1 physical; a look does not. */
static void make_physical_locked(struct sim *s, struct sim_die *die)
	REQUIRES(s->lock);
static void make_physical_locked(struct sim *s, struct sim_die *die)
{
	(void)s;
	if (!die->has_driver && !die->is_bar1_stuck)
		die->is_bar1_virtual = false;
}

/* A look at the die that is in. */
static int look_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);
static int look_locked(struct sim *s, struct sim_die *die)
{
	if (die->is_dead)
		return 0;
	probe_locked(s, die);
	return sim_slot_show_locked(s, die);
}

int sim_slot_probe_locked(struct sim *s, struct sim_die *die)
{
	if (s->active != die->id)
		return 0;
	make_physical_locked(s, die);
	return look_locked(s, die);
}

/* Caller holds the turn. The die that is in, if any, leaves. */
static int vacate_locked(struct sim *s) REQUIRES(s->lock);
static int vacate_locked(struct sim *s)
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
	sim_event_locked(s);
	return 0;
}

void sim_slot_lose_locked(struct sim *s, struct sim_die *die)
{
	if (s->active == die->id)
		vacate_locked(s);
	sim_lease_prune_locked(s);
}

/* Caller holds the turn; the slot is vacant. */
static int seat_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);
static int seat_locked(struct sim *s, struct sim_die *die)
{
	int ret;

	sim_alive_locked(s, die, !die->is_dead);
	if (die->is_dead) {
		sim_error_locked(s, die, "acquire: " DEAD_TEXT);
		return -EIO;
	}
	make_physical_locked(s, die);
	probe_locked(s, die);
	if (is_touchable_locked(s, die)) {
		ret = sim_mem_show(s, die);
		if (ret) {
			errno = -ret;
			sim_error_locked(s, die, "acquire: map: %m");
			return ret;
		}
	}
	die->swaps_in++;
	s->active = die->id;
	sim_event_locked(s);
	return 0;
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

/* Is it a driver that keeps @die where it is? @wanted gets the reason. */
static bool is_kept_locked(struct sim *s, const struct sim_die *die,
			   struct sim_die *wanted, const char *what)
	REQUIRES(s->lock);
static bool is_kept_locked(struct sim *s, const struct sim_die *die,
			   struct sim_die *wanted, const char *what)
{
	if (!die || !die->has_driver)
		return false;
	sim_error_locked(s, wanted, "%s: driver %s is bound to die %d", what,
			 die->driver, die->id);
	return true;
}

/* May drivers stand in the way of this swap? */
static bool is_swap_refused_locked(struct sim *s, struct sim_die *die,
				   unsigned int flags) REQUIRES(s->lock);
static bool is_swap_refused_locked(struct sim *s, struct sim_die *die,
				   unsigned int flags)
{
	const struct sim_die *old = s->active >= 0 ? &s->die[s->active] : NULL;

	/* not even by force: a reset under a driver */
	if (flags & BS_FORCE_SBR && is_kept_locked(s, die, die, "acquire"))
		return true;
	if (flags & BS_FORCE)
		return false;
	return is_kept_locked(s, old, die, "acquire") ||
	       is_kept_locked(s, die, die, "acquire");
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
 * caller cannot have put any there; a driver's die has none.
 */
static int reset_locked(struct sim *s, struct sim_die *die, unsigned int flags)
	REQUIRES(s->lock);
static int reset_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	int ret;

	if (!(flags & BS_FORCE_SBR)) {
		if (!die->resets && !die->has_driver && !die->is_dead)
			die->resets = 1;
		return 0;
	}
	die->resets++;
	die->generation++;
	sim_event_locked(s);
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

	if (die->is_gone)
		return -ENODEV;
	if (die->is_unusable || is_swap_refused_locked(s, die, flags))
		return -EBUSY;
	injected = injected_error_locked(s, die);
	if (changes_nothing(injected))
		return -injected;

	ret = vacate_locked(s);
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
	ret = seat_locked(s, die);
	if (ret)
		return ret;
	die->last_swap_ns = now_ns() - start_ns;
	return 0;
}

/* Caller holds the turn; the die is in already. Can it stay? */
static int reacquire_locked(struct sim *s, struct sim_die *die) REQUIRES(s->lock);
static int reacquire_locked(struct sim *s, struct sim_die *die)
{
	int ret;

	sim_alive_locked(s, die, !die->is_dead);
	if (!die->is_dead) {
		if (!die->is_bar1_virtual && die->bar1_mode != BS_MODE_VIRTUAL)
			return 0;
		return sim_slot_probe_locked(s, die);
	}
	ret = vacate_locked(s);
	if (ret)
		return ret;
	sim_error_locked(s, die, "acquire: " DEAD_TEXT);
	return -EIO;
}

/* Caller has the turn, by @pid. */
static int bring_in_locked(struct sim *s, struct sim_die *die,
			   unsigned int flags, int pid) REQUIRES(s->lock);
static int bring_in_locked(struct sim *s, struct sim_die *die,
			   unsigned int flags, int pid)
{
	int ret;

	if (s->active != die->id || (flags & BS_FORCE_SBR))
		ret = swap_locked(s, die, flags);
	else
		ret = reacquire_locked(s, die);
	if (ret)
		return ret;
	die->acquires++;
	if (flags & BS_LEASE)
		sim_lease_start_locked(s, pid);
	if (!(flags & BS_DRIVER_MEM))
		return 0;
	s->sees_driver_mem = true;
	return sim_slot_show_locked(s, die);
}

/* Does somebody else lease just this die? */
static bool is_its_lease_away_locked(struct sim *s, const struct sim_die *die)
	REQUIRES(s->lock);
static bool is_its_lease_away_locked(struct sim *s, const struct sim_die *die)
{
	return s->lease_die == die->id && sim_is_leased_away_locked(s, SIM_HERE);
}

/* What is refused before anybody waits. */
static int check_acquire_locked(struct sim *s, const struct sim_die *die,
				unsigned int flags) REQUIRES(s->lock);
static int check_acquire_locked(struct sim *s, const struct sim_die *die,
				unsigned int flags)
{
	if (flags & RAWIO_FLAGS && !has_rawio(s))
		return -EPERM;
	if (die->is_gone)
		return -ENODEV;
	if (die->is_unusable)
		return -EBUSY;
	/* a reset of what somebody leases is refused, not put off */
	if (flags & BS_FORCE_SBR && is_its_lease_away_locked(s, die))
		return -EBUSY;
	return 0;
}

int sim_slot_acquire(struct sim *s, struct sim_die *die, unsigned int flags)
{
	uint64_t end_ns = flags & BS_NOWAIT ? 0 : UINT64_MAX;
	int ret;

	sim_take(s);
	ret = check_acquire_locked(s, die, flags);
	if (!ret)
		ret = sim_turn_wait_locked(s, SIM_HERE, end_ns);
	if (!ret) {
		ret = bring_in_locked(s, die, flags, SIM_HERE);
		sim_lease_prune_locked(s);
		sim_turn_drop_locked(s);
	}
	sim_drop(s);
	return ret;
}

int sim_slot_lease_away(struct sim *s, struct sim_die *die, int pid)
{
	uint64_t end_ns = now_ns() + LEASE_AWAY_SEC * NSEC_PER_SEC;
	int ret;

	sim_take(s);
	ret = check_acquire_locked(s, die, 0);
	if (!ret)
		ret = sim_turn_wait_locked(s, pid, end_ns);
	if (!ret) {
		ret = bring_in_locked(s, die, BS_LEASE, pid);
		sim_lease_prune_locked(s);
		sim_turn_drop_locked(s);
	}
	sim_drop(s);
	return ret;
}

/* Caller has the turn. */
static int take_out_locked(struct sim *s, struct sim_die *die,
			   unsigned int flags) REQUIRES(s->lock);
static int take_out_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	if (s->active != die->id)
		return 0;
	if (is_its_lease_away_locked(s, die))
		return -EBUSY;
	if (!(flags & BS_FORCE) && is_kept_locked(s, die, die, "release"))
		return -EBUSY;
	return vacate_locked(s);
}

int sim_slot_release(struct sim *s, struct sim_die *die, unsigned int flags)
{
	int ret;

	sim_take(s);
	if (die->is_gone) {
		ret = -ENODEV;
	} else if (flags & BS_FORCE && die->has_driver && !has_rawio(s)) {
		ret = -EPERM;
	} else if (is_its_lease_away_locked(s, die)) {
		ret = -EBUSY;
	} else {
		sim_turn_take_locked(s);
		ret = take_out_locked(s, die, flags);
		sim_lease_prune_locked(s);
		sim_turn_drop_locked(s);
	}
	sim_drop(s);
	return ret;
}

/* The die that is in is not as recorded: look again, if it still is in. */
static void follow(struct sim *s, struct sim_die *die) EXCLUDES(s->lock);
static void follow(struct sim *s, struct sim_die *die)
{
	sim_take(s);
	sim_turn_take_locked(s);
	if (s->active == die->id) {
		if (die->is_dead)
			sim_alive_locked(s, die, false);
		look_locked(s, die);
	}
	sim_turn_drop_locked(s);
	sim_drop(s);
}

/* Without the lock where it can: it is asked after each piece of each copy. */
int sim_slot_check(struct sim *s, struct sim_die *die, struct bs_health *health)
{
	bool in_slot = s->active == die->id;

	if (die->is_gone)
		return -ENODEV;
	if (in_slot &&
	    ((die->is_dead && die->is_alive) ||
	     die->is_bar1_virtual != (die->bar1_mode == BS_MODE_VIRTUAL)))
		follow(s, die);
	*health = (struct bs_health){
		.in_slot = in_slot,
		.alive = in_slot && !die->is_dead,
		.generation = die->generation,
		.driver = die->has_driver,
		.bar1_mode = die->bar1_mode,
	};
	return 0;
}
