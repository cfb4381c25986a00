/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who gets the slot next, and until when: a pure state machine. Time comes in
 * as an argument; there are no threads, no hardware and no requests here,
 * only counts of them.
 *
 * The die that is in serves its requests side by side. When others wait it
 * keeps the slot for a slice, counted from its swap in; then it drains: no new
 * request starts, and when the last one is done the die that has waited
 * longest comes in. A die that has just answered keeps the slot for a grace
 * period even with nothing to do, because a synchronous reader is about to ask
 * again (without it batching gains nothing); a die idle for longer than that
 * gives way at once.
 *
 * The wait for a turn is bounded by (dies - 1) x (slice + the longest request
 * + swap).
 */
#ifndef K80FS_POLICY_H
#define K80FS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define POLICY_MAX_DIES 16
#define POLICY_NEVER    UINT64_MAX

/* slice = 20 swaps loses 5 % of the slot to swapping; the floors keep cheap
 * swaps from thrashing (measured with 1 MiB readers, swaps of 0.2 to 5 ms) */
#define POLICY_SLICE_SWAPS  20
#define POLICY_MIN_SLICE_NS 5000000ULL
#define POLICY_MIN_GRACE_NS 1000000ULL
/* A reset inside a swap (a second and more) is no measure of the next one. */
#define POLICY_MAX_SWAP_NS 50000000ULL

enum policy_evict {
	POLICY_STAY,
	POLICY_REBIND, /* swap to itself: looked at again, or reset */
	POLICY_OUT, /* the slot becomes vacant */
};

/**
 * struct policy - the state
 * @active:      die that may run requests, -1 for none
 * @swapping_to: die whose swap in is under way, -1 for none
 * @draining:    @active starts no new request
 * @held:        a pin or lease keeps @active in
 * @only:        the die that a hold lets into a vacant slot, -1 for any
 * @evict:       what must happen as soon as the requests of @active are done,
 *               whatever its slice and hold
 * @slice_end:   when @active may be made to give way
 * @swap_ns:     estimate of one swap
 * @slice_set:   slice chosen by the user, 0 for auto
 */
struct policy {
	int active;
	int swapping_to;
	bool draining;
	bool held;
	int only;
	enum policy_evict evict;
	uint64_t slice_end;
	uint64_t swap_ns;
	uint64_t slice_set;
	struct policy_die {
		uint32_t waiting; /* parked requests */
		uint32_t running; /* requests that keep it in */
		uint64_t waiting_since; /* oldest turn not yet given */
		uint64_t last_done;
	} dies[POLICY_MAX_DIES];
};

enum policy_action {
	POLICY_KEEP, /* nothing to do until @wake, or until something happens */
	POLICY_SWAP, /* bring @die in now */
	POLICY_VACATE, /* take @die, the active one, out now */
};

struct policy_step {
	enum policy_action action;
	int die;
	uint64_t wake; /* ns, POLICY_NEVER for none */
};

void policy_init(struct policy *p);

/** policy_slice_ns() - length of a slice now */
uint64_t policy_slice_ns(const struct policy *p);

/** policy_grace_ns() - how long an idle die keeps the slot now */
uint64_t policy_grace_ns(const struct policy *p);

/** policy_may_run() - whether a request of @die may start now */
static inline bool policy_may_run(const struct policy *p, unsigned int die)
{
	return p->active == (int)die && !p->draining;
}

/** policy_start() - one did; it counts until policy_done() */
static inline void policy_start(struct policy *p, unsigned int die)
{
	p->dies[die].running++;
}

/**
 * policy_done() - it ended
 * Return: true if that was the last one a drain waits for.
 */
static inline bool policy_done(struct policy *p, unsigned int die, uint64_t now)
{
	p->dies[die].last_done = now;
	return !--p->dies[die].running && p->draining;
}

/** policy_wait() - a request of @die was parked */
void policy_wait(struct policy *p, unsigned int die, uint64_t now);

/** policy_unwait() - a parked request was answered or started */
void policy_unwait(struct policy *p, unsigned int die);

/** policy_others_wait() - whether a die that is not active waits */
bool policy_others_wait(const struct policy *p);

/**
 * policy_next() - what to do now; may begin a drain
 *
 * After POLICY_SWAP or POLICY_VACATE the caller does it and reports by
 * policy_swapped().
 */
struct policy_step policy_next(struct policy *p, uint64_t now);

/**
 * policy_swapped() - a swap ended
 * @die:  the die that may run now, -1 for none
 * @cost: what the swap took, ns; 0 if the slot was not programmed
 */
void policy_swapped(struct policy *p, int die, uint64_t now, uint64_t cost);

#endif /* K80FS_POLICY_H */
