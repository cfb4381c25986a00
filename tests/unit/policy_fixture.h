/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy, a clock and what single decisions are checked with; each file of
 * tests that includes this has its own.
 */
#ifndef K80FS_POLICY_FIXTURE_H
#define K80FS_POLICY_FIXTURE_H

#include <check.h>
#include <string.h>

#include "base/util.h"
#include "sched/policy.h"

#define MS NSEC_PER_MSEC

static struct policy p;
static uint64_t now;

static void setup(void)
{
	memset(&p, 0x5a, sizeof(p));
	policy_init(&p);
	now = 1000 * MS;
}

static void assert_keeps(uint64_t wake)
{
	struct policy_step step = policy_next(&p, now);

	ck_assert_int_eq(step.action, POLICY_KEEP);
	ck_assert_uint_eq(step.wake, wake);
}

static void assert_swaps_to(int die)
{
	struct policy_step step = policy_next(&p, now);

	ck_assert_int_eq(step.action, POLICY_SWAP);
	ck_assert_int_eq(step.die, die);
	ck_assert_int_eq(p.swapping_to, die);
}

/* Puts @die in; a swap of @cost measured. Nobody waits afterwards. */
static void bring_in(int die, uint64_t cost)
{
	policy_wait(&p, (unsigned int)die, now, false);
	assert_swaps_to(die);
	now += cost;
	policy_swapped(&p, die, now, cost);
	policy_unwait(&p, (unsigned int)die, false);
}

#endif /* K80FS_POLICY_FIXTURE_H */
