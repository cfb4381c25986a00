/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy.h"

#include <string.h>

#include "util.h"

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	p->active = -1;
	p->swapping_to = -1;
	p->only = -1;
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

uint64_t policy_grace_ns(const struct policy *p)
{
	return at_least(p->swap_ns, POLICY_MIN_GRACE_NS);
}

void policy_wait(struct policy *p, unsigned int die, uint64_t now)
{
	if (!p->dies[die].waiting++)
		p->dies[die].waiting_since = now;
}

void policy_unwait(struct policy *p, unsigned int die)
{
	p->dies[die].waiting--;
}

/* The waiting die whose oldest request came first; -1 if none waits. */
static int longest_waiting(const struct policy *p, int except)
{
	int best = -1;

	for (int die = 0; die < POLICY_MAX_DIES; die++) {
		if (die == except || !p->dies[die].waiting)
			continue;
		if (best < 0 ||
		    p->dies[die].waiting_since < p->dies[best].waiting_since)
			best = die;
	}
	return best;
}

bool policy_others_wait(const struct policy *p)
{
	return longest_waiting(p, p->active) >= 0;
}

/* The active die has nothing more to run. */
static struct policy_step switch_away(struct policy *p)
{
	struct policy_step step = { POLICY_SWAP, -1, POLICY_NEVER };

	if (p->evict == POLICY_STAY)
		step.die = longest_waiting(p, p->active);
	else
		step.die = p->active;
	if (p->evict == POLICY_OUT)
		step.action = POLICY_VACATE;
	p->swapping_to = step.die;
	return step;
}

struct policy_step policy_next(struct policy *p, uint64_t now)
{
	struct policy_step keep = { POLICY_KEEP, -1, POLICY_NEVER };
	const struct policy_die *d;
	uint64_t idle_end;

	if (p->swapping_to >= 0)
		return keep;
	if (p->active < 0) {
		struct policy_step step = keep;

		/* a held die that was lost comes back, asked for or not */
		step.die = p->only >= 0 ? p->only : longest_waiting(p, -1);
		if (step.die < 0)
			return keep;
		step.action = POLICY_SWAP;
		p->swapping_to = step.die;
		return step;
	}

	d = &p->dies[p->active];
	if (!p->evict && (p->held || !policy_others_wait(p))) {
		/* whoever made it drain has left */
		p->draining = false;
		return keep;
	}
	if (!p->evict && !p->draining && now < p->slice_end) {
		if (d->running) {
			/* an idle die is noticed one grace later at most */
			keep.wake = MIN(p->slice_end, now + policy_grace_ns(p));
			return keep;
		}
		idle_end = d->last_done + policy_grace_ns(p);
		if (now < idle_end) {
			keep.wake = MIN(p->slice_end, idle_end);
			return keep;
		}
	}
	p->draining = true;
	if (d->running)
		return keep;
	return switch_away(p);
}

void policy_swapped(struct policy *p, int die, uint64_t now, uint64_t cost)
{
	if (cost) {
		cost = MIN(cost, POLICY_MAX_SWAP_NS);
		/* a moving average over about four swaps */
		p->swap_ns = p->swap_ns ? (3 * p->swap_ns + cost) / 4 : cost;
	}
	p->active = die;
	p->swapping_to = -1;
	p->draining = false;
	p->evict = POLICY_STAY;
	p->slice_end = now + policy_slice_ns(p);
	if (die >= 0)
		p->dies[die].last_done = now;
}
