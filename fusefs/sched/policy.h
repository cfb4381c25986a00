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
 * again (without it batching gains nothing). Whether that is so is judged by
 * its requests: after two that came later than the grace a die gives way as
 * soon as it has nothing to do, until one comes earlier; and so does one whose
 * last client now waits for another die. One late request is not enough: a
 * reader that the machine held up, which costs it the rest of its turn, would
 * lose the next one too.
 *
 * A slice that was cut short, because the die was waited for in vain or was not
 * asked again after a visit, is owed: its next one is longer by the rest, a
 * slice at most. One die at a time is owed something, the last one.
 *
 * A die whose waiting requests are all small may interrupt a slice: a visit.
 * Visits are some swaps apart and end as soon as the small requests are done;
 * the interrupted die then gets the rest of its slice.
 *
 * What only has to get to its die some time, written behind, is lazy: the die
 * counts as waiting after a while, or as soon as anything else of it waits.
 *
 * Visits aside, the wait for a turn is bounded by (dies - 1) x (slice + the
 * longest request + swap), and the slice that one of them may get back.
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
#define POLICY_SMALL_LEN    65536u
#define POLICY_MAX_LATE     2 /* so many late requests: no grace */
/* a visit costs two swaps: 15 swaps apart, that is 12 % of the slot */
#define POLICY_VISIT_SWAPS  15
#define POLICY_MIN_VISIT_NS 5000000ULL
/* there and back for six dies costs 6 % of the slot */
#define POLICY_LAZY_SWAPS  200
#define POLICY_MIN_LAZY_NS 50000000ULL
/* the estimate of a swap is the median of so many */
#define POLICY_COSTS 8
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
 * @costs:       of the last swaps, a ring; @n_costs: how many there ever were
 * @visit_to:    die that interrupts the slice of @active as soon as its
 *               requests are done, -1 for none
 * @visit_from:  die whose slice @active interrupts, -1 for none
 * @visit_left:  what is left of that slice; of the active die's, once it was
 *               replaced
 * @visit_next:  no visit before this time
 * @owed_to:     die whose last slice was cut short by @owed ns, -1 for none
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
	uint64_t costs[POLICY_COSTS];
	uint64_t n_costs;
	int visit_to;
	int visit_from;
	uint64_t visit_left;
	uint64_t visit_next;
	int owed_to;
	uint64_t owed;
	struct policy_die {
		uint32_t waiting; /* parked requests */
		uint32_t lazy_waiting; /* the lazy ones of them */
		uint64_t lazy_until; /* when those count, too */
		uint32_t small_waiting; /* the small ones of them */
		uint32_t running; /* requests that keep it in */
		uint64_t waiting_since; /* oldest turn not yet given, or lazy */
		uint64_t last_done;
		unsigned int late; /* requests after the grace, less others */
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

/** policy_visit_ns() - how long after a visit the next one may begin */
uint64_t policy_visit_ns(const struct policy *p);

/** policy_grace_ns() - how long an idle die may keep the slot now */
uint64_t policy_grace_ns(const struct policy *p);

/** policy_may_run() - whether a request of @die may start now */
static inline bool policy_may_run(const struct policy *p, unsigned int die)
{
	return p->active == (int)die && !p->draining;
}

/** policy_is_small() - whether a request of so many bytes may visit */
static inline bool policy_is_small(uint64_t len)
{
	return len <= POLICY_SMALL_LEN;
}

/** policy_start() - a parked one did; it counts until policy_done() */
static inline void policy_start(struct policy *p, unsigned int die)
{
	p->dies[die].running++;
}

/** policy_run() - one came and started at once */
void policy_run(struct policy *p, unsigned int die, uint64_t now);

/**
 * policy_done() - it ended
 * Return: true if policy_next() has something to do now.
 */
bool policy_done(struct policy *p, unsigned int die, uint64_t now);

/** policy_wait() - a request of @die was parked */
void policy_wait(struct policy *p, unsigned int die, uint64_t now, bool small);

/** policy_wait_lazily() - the same of one that can wait */
void policy_wait_lazily(struct policy *p, unsigned int die, uint64_t now);

/** policy_put_off() - the lazy ones of @die count at @until, not earlier */
static inline void policy_put_off(struct policy *p, unsigned int die,
				  uint64_t until)
{
	p->dies[die].lazy_until = until;
}

/** policy_unwait_lazily() - one of those was answered or started */
void policy_unwait_lazily(struct policy *p, unsigned int die);

/** policy_unwait() - a parked request was answered or started */
void policy_unwait(struct policy *p, unsigned int die, bool small);

/** policy_leave() - whoever asked @die last is busy elsewhere: no grace */
static inline void policy_leave(struct policy *p, unsigned int die)
{
	p->dies[die].late = POLICY_MAX_LATE;
}

/** policy_others_wait() - whether a die that is not active waits, and counts */
bool policy_others_wait(const struct policy *p, uint64_t now);

/** policy_is_over() - whether the active die must give way to another one */
bool policy_is_over(const struct policy *p, uint64_t now);

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
