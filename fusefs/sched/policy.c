/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/policy.h"

#include <string.h>

#include "base/util.h"

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	p->active = -1;
	p->swapping_to = -1;
	p->visit_to = -1;
	p->visit_from = -1;
	p->only = -1;
	p->owed_to = -1;
	for (int die = 0; die < POLICY_MAX_DIES; die++)
		p->dies[die].late = POLICY_MAX_LATE;
}

static uint64_t at_least(uint64_t v, uint64_t floor)
{
	return v < floor ? floor : v;
}

uint64_t policy_slice_ns(const struct policy *p)
{
	if (p->slice_set)
		return p->slice_set;
	return at_least(POLICY_SLICE_SWAPS * p->swap_ns, POLICY_MIN_SLICE_NS);
}

uint64_t policy_visit_ns(const struct policy *p)
{
	return at_least(POLICY_VISIT_SWAPS * p->swap_ns, POLICY_MIN_VISIT_NS);
}

uint64_t policy_grace_ns(const struct policy *p)
{
	return at_least(p->swap_ns, POLICY_MIN_GRACE_NS);
}

/* Whether another request of it is likely to come within the grace. */
static bool is_eager(const struct policy_die *d)
{
	return d->late < POLICY_MAX_LATE;
}

/* A request of @die came: were its clients as quick as the grace? */
static void note_arrival(struct policy *p, unsigned int die, uint64_t now)
{
	struct policy_die *d = &p->dies[die];

	if (d->running || now < d->last_done + policy_grace_ns(p))
		d->late -= d->late > 0;
	else if (!d->waiting)
		/* those beside it that were held up with it say no more */
		d->late += is_eager(d);
}

void policy_run(struct policy *p, unsigned int die, uint64_t now)
{
	note_arrival(p, die, now);
	policy_start(p, die);
}

void policy_wait(struct policy *p, unsigned int die, uint64_t now, bool small)
{
	note_arrival(p, die, now);
	p->dies[die].small_waiting += small;
	if (p->dies[die].waiting++ == p->dies[die].lazy_waiting)
		p->dies[die].waiting_since = now;
}

void policy_wait_lazily(struct policy *p, unsigned int die, uint64_t now)
{
	struct policy_die *d = &p->dies[die];

	d->late = POLICY_MAX_LATE;
	if (!d->waiting++)
		d->waiting_since = now;
	if (!d->lazy_waiting++)
		d->lazy_until = now + at_least(POLICY_LAZY_SWAPS * p->swap_ns,
					       POLICY_MIN_LAZY_NS);
}

void policy_unwait_lazily(struct policy *p, unsigned int die)
{
	p->dies[die].lazy_waiting--;
	p->dies[die].waiting--;
}

void policy_unwait(struct policy *p, unsigned int die, bool small)
{
	p->dies[die].small_waiting -= small;
	p->dies[die].waiting--;
}

static bool counts(const struct policy_die *d, uint64_t now)
{
	return d->waiting > d->lazy_waiting ||
	       (d->lazy_waiting && now >= d->lazy_until);
}

/* The waiting die whose oldest request came first; -1 if none waits. */
static int longest_waiting(const struct policy *p, int except, uint64_t now)
{
	int best = -1;

	for (int die = 0; die < POLICY_MAX_DIES; die++) {
		if (die == except || !counts(&p->dies[die], now))
			continue;
		if (best < 0 ||
		    p->dies[die].waiting_since < p->dies[best].waiting_since)
			best = die;
	}
	return best;
}

bool policy_others_wait(const struct policy *p, uint64_t now)
{
	return longest_waiting(p, p->active, now) >= 0;
}

bool policy_is_over(const struct policy *p, uint64_t now)
{
	return !p->held && now >= p->slice_end && policy_others_wait(p, now);
}

/* When the first lazy die counts, of those that do not yet. */
static uint64_t lazy_end(const struct policy *p, uint64_t now)
{
	uint64_t end = POLICY_NEVER;

	for (int die = 0; die < POLICY_MAX_DIES; die++) {
		const struct policy_die *d = &p->dies[die];

		if (d->waiting && !counts(d, now))
			end = MIN(end, d->lazy_until);
	}
	return end;
}

bool policy_done(struct policy *p, unsigned int die, uint64_t now)
{
	struct policy_die *d = &p->dies[die];
	bool is_idle = !--d->running;

	d->last_done = now;
	if (!is_idle || p->draining)
		return is_idle;
	return (p->visit_from >= 0 || !is_eager(d)) && policy_others_wait(p, now);
}

/* The die that may interrupt: its oldest request came first, all are small. */
static int visitor(const struct policy *p)
{
	int best = -1;

	for (int die = 0; die < POLICY_MAX_DIES; die++) {
		const struct policy_die *d = &p->dies[die];

		if (die == p->active || !d->waiting ||
		    d->waiting != d->small_waiting)
			continue;
		if (best < 0 || d->waiting_since < p->dies[best].waiting_since)
			best = die;
	}
	return best;
}

/* Who comes after the active die, which has nothing more to run. */
static int successor(const struct policy *p, uint64_t now)
{
	if (p->visit_to >= 0)
		return p->visit_to;
	if (p->visit_from >= 0 && counts(&p->dies[p->visit_from], now))
		return p->visit_from;
	return longest_waiting(p, p->active, now);
}

static void owe(struct policy *p, int die, uint64_t ns)
{
	p->owed_to = die;
	p->owed = ns;
}

/* Who comes in now; whose slice is cut short by that gets the rest back. */
static int replace_active(struct policy *p, uint64_t now)
{
	bool is_visit = p->visit_from >= 0, is_cut;
	int next;

	if (!is_visit) {
		p->visit_left = now < p->slice_end ? p->slice_end - now : 0;
		/* the slice ended before its requests did: no visit any more */
		if (!p->visit_left)
			p->visit_to = -1;
	}
	next = successor(p, now);
	if (is_visit)
		is_cut = next != p->visit_from;
	else
		is_cut = p->visit_to < 0 && is_eager(&p->dies[p->active]);
	if (is_cut && p->visit_left)
		owe(p, is_visit ? p->visit_from : p->active, p->visit_left);
	return next;
}

/* The active die has nothing more to run. */
static struct policy_step switch_away(struct policy *p, uint64_t now)
{
	struct policy_step step = { POLICY_SWAP, p->active, POLICY_NEVER };

	if (p->evict == POLICY_STAY)
		step.die = replace_active(p, now);
	if (p->evict == POLICY_OUT)
		step.action = POLICY_VACATE;
	p->swapping_to = step.die;
	return step;
}

/* When the active die counts as idle, as far as is known now. */
static uint64_t idle_end(const struct policy *p, uint64_t now)
{
	const struct policy_die *d = &p->dies[p->active];

	/* looked at again one grace later */
	if (d->running || d->waiting)
		return now + policy_grace_ns(p);
	/* a visitor is not waited for at all */
	if (p->visit_from >= 0 || !is_eager(d))
		return now;
	return d->last_done + policy_grace_ns(p);
}

struct policy_step policy_next(struct policy *p, uint64_t now)
{
	struct policy_step keep = { POLICY_KEEP, -1, POLICY_NEVER };
	const struct policy_die *d;

	if (p->swapping_to >= 0)
		return keep;
	if (p->active < 0) {
		struct policy_step step = keep;

		/* a held die that was lost comes back, asked for or not */
		step.die = p->only >= 0 ? p->only : longest_waiting(p, -1, now);
		if (step.die < 0) {
			keep.wake = lazy_end(p, now);
			return keep;
		}
		step.action = POLICY_SWAP;
		p->swapping_to = step.die;
		return step;
	}

	d = &p->dies[p->active];
	if (p->visit_to >= 0 && !p->dies[p->visit_to].waiting) {
		p->draining = false;
		p->visit_to = -1;
	}
	if (!p->evict && (p->held || !policy_others_wait(p, now))) {
		/* whoever made it drain has left */
		p->draining = false;
		p->visit_to = -1;
		keep.wake = p->held ? POLICY_NEVER : lazy_end(p, now);
		return keep;
	}
	if (!p->evict && !p->draining && now < p->slice_end) {
		int guest = p->visit_from < 0 ? visitor(p) : -1;

		keep.wake = MIN(p->slice_end, idle_end(p, now));
		if (guest >= 0 && now >= p->visit_next) {
			p->visit_to = guest;
		} else if (now < keep.wake) {
			if (guest >= 0)
				keep.wake = MIN(keep.wake, p->visit_next);
			return keep;
		}
	}
	p->draining = true;
	keep.wake = POLICY_NEVER;
	if (d->running)
		return keep;
	return switch_away(p, now);
}

/* Median of the last costs: one swap that was held up says nothing. */
static void note_cost(struct policy *p, uint64_t cost)
{
	uint64_t sorted[POLICY_COSTS];
	unsigned int n, i;

	p->costs[p->n_costs++ % POLICY_COSTS] = MIN(cost, POLICY_MAX_SWAP_NS);
	for (n = 0; n < POLICY_COSTS && n < p->n_costs; n++) {
		for (i = n; i && sorted[i - 1] > p->costs[n]; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = p->costs[n];
	}
	p->swap_ns = sorted[(n - 1) / 2];
}

void policy_swapped(struct policy *p, int die, uint64_t now, uint64_t cost)
{
	bool visits = die >= 0 && die == p->visit_to;
	bool returns = die >= 0 && die == p->visit_from;
	bool failed_to_visit =
		p->visit_to >= 0 && !visits && p->visit_to == p->swapping_to;
	int from = p->active;

	if (cost)
		note_cost(p, cost);
	if (failed_to_visit)
		owe(p, from, p->visit_left);
	if (visits)
		/* as long as it takes to get there */
		p->slice_end = now + at_least(p->swap_ns, POLICY_MIN_GRACE_NS);
	else if (returns)
		p->slice_end = now + p->visit_left;
	else if (die != from)
		p->slice_end = now + policy_slice_ns(p);
	if (die >= 0 && die == p->owed_to && !visits) {
		p->slice_end += MIN(p->owed, policy_slice_ns(p));
		p->owed_to = -1;
	}
	if (p->visit_from >= 0 || failed_to_visit)
		p->visit_next = now + policy_visit_ns(p);
	p->active = die;
	p->swapping_to = -1;
	p->draining = false;
	p->evict = POLICY_STAY;
	p->visit_from = visits ? from : -1;
	p->visit_to = -1;
	if (die >= 0) {
		p->dies[die].last_done = now;
		/* what does not start now waits for the turn after the others' */
		p->dies[die].waiting_since = now;
	}
}
