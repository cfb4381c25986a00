// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Properties of the policy: clients on a simulated clock, and random events.
 * Every run is fixed by its seed.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "sched/policy.h"
#include "suites.h"
#include "support.h"

#define MS          NSEC_PER_MSEC
#define MAX_CLIENTS 48

enum client_state { THINKING, WAITING, RUNNING };

/**
 * struct client - asks for one die again and again
 * @at:    when it asks next, or since when it waits, or when it is answered
 * @think: longest pause before it asks again, ns
 * @work:  longest request, ns
 * @late_every: one in so many of its requests comes up to four graces later
 */
struct client {
	enum client_state state;
	unsigned int die;
	uint64_t at;
	uint64_t think;
	uint64_t work;
	unsigned int late_every;
	uint64_t n_answers;
};

static struct {
	struct policy p;
	uint64_t now;
	uint64_t seed;
	unsigned int n_dies;
	unsigned int n_clients;
	struct client clients[MAX_CLIENTS];
	uint64_t swap_cost;
	uint64_t swap_end; /* 0: none under way */
	int swap_die;
	uint64_t wake;
	uint64_t longest_wait;
	uint64_t n_swaps;
	uint64_t busy; /* ns in which the slot ran something or swapped */
} sim;

static uint64_t roll(uint64_t below)
{
	return support_random(&sim.seed, below);
}

static void sim_init(uint64_t seed, unsigned int n_dies, uint64_t swap_cost)
{
	memset(&sim, 0, sizeof(sim));
	policy_init(&sim.p);
	sim.seed = seed;
	sim.n_dies = n_dies;
	sim.swap_cost = swap_cost;
	sim.now = NSEC_PER_SEC;
	sim.wake = POLICY_NEVER;
}

static struct client *add_client(unsigned int die, uint64_t think, uint64_t work)
{
	struct client *c = &sim.clients[sim.n_clients++];

	support_assert(sim.n_clients <= MAX_CLIENTS);
	*c = (struct client){
		.die = die,
		.think = think,
		.work = work,
		.at = sim.now + roll(MS),
	};
	return c;
}

static unsigned int n_running(void)
{
	unsigned int n = 0;

	for (unsigned int die = 0; die < POLICY_MAX_DIES; die++)
		n += sim.p.dies[die].running;
	return n;
}

static void client_start(struct client *c)
{
	support_assert(policy_may_run(&sim.p, c->die));
	support_assert(sim.swap_end == 0);
	if (c->state == WAITING)
		policy_start(&sim.p, c->die);
	else
		policy_run(&sim.p, c->die, sim.now);
	c->state = RUNNING;
	c->at = sim.now + 1 + roll(c->work);
}

static void client_event(struct client *c)
{
	if (c->state == RUNNING) {
		policy_done(&sim.p, c->die, sim.now);
		c->n_answers++;
		c->state = THINKING;
		c->at = sim.now + roll(c->think + 1);
		if (c->late_every && roll(c->late_every) == 0)
			c->at += roll(4 * policy_grace_ns(&sim.p));
	} else if (policy_may_run(&sim.p, c->die)) {
		client_start(c);
	} else {
		policy_wait(&sim.p, c->die, sim.now, false);
		c->state = WAITING;
		c->at = sim.now;
	}
}

/* What the scheduler does with the policy after every event. */
static void sim_decide(void)
{
	struct policy_step step = policy_next(&sim.p, sim.now);

	sim.wake = step.wake;
	if (step.action != POLICY_KEEP) {
		support_assert(n_running() == 0);
		support_assert(sim.swap_end == 0);
		support_assert(step.action == POLICY_SWAP);
		support_assert(step.die != sim.p.active);
		support_assert(sim.p.dies[step.die].waiting > 0);
		sim.swap_die = step.die;
		sim.swap_end = sim.now + sim.swap_cost;
		sim.n_swaps++;
		return;
	}
	support_assert(step.wake > sim.now);
	if (sim.p.active < 0 ||
	    !policy_may_run(&sim.p, (unsigned int)sim.p.active))
		return;
	for (unsigned int i = 0; i < sim.n_clients; i++) {
		struct client *c = &sim.clients[i];

		if (c->state != WAITING || (int)c->die != sim.p.active)
			continue;
		sim.longest_wait = sim.now - c->at > sim.longest_wait
					   ? sim.now - c->at
					   : sim.longest_wait;
		policy_unwait(&sim.p, c->die, false);
		client_start(c);
	}
}

/* True at any time, whatever came before. */
static void assert_sane(void)
{
	unsigned int running = n_running();

	if (sim.swap_end) {
		support_assert(running == 0);
		return;
	}
	if (sim.p.active < 0) {
		support_assert(running == 0);
		/* a vacant slot that somebody waits for is being filled */
		support_assert(!policy_others_wait(&sim.p, sim.now));
		return;
	}
	/* never two dies at once */
	support_assert(running == sim.p.dies[sim.p.active].running);
	if (!policy_others_wait(&sim.p, sim.now) && !sim.p.evict)
		support_assert(policy_may_run(&sim.p, (unsigned int)sim.p.active));
	/* somebody waits and nothing runs: it ends without any other event */
	if (policy_others_wait(&sim.p, sim.now) && !sim.p.held && !running)
		support_assert(sim.wake != POLICY_NEVER);
}

static void sim_run(uint64_t duration)
{
	uint64_t end = sim.now + duration;

	while (sim.now < end) {
		struct client *next = NULL;
		uint64_t at = sim.swap_end ? sim.swap_end : sim.wake;

		for (unsigned int i = 0; i < sim.n_clients; i++) {
			struct client *c = &sim.clients[i];

			if (c->state != WAITING && c->at <= at) {
				at = c->at;
				next = c;
			}
		}
		support_assert(at != POLICY_NEVER);
		if (n_running() || sim.swap_end)
			sim.busy += at - sim.now;
		sim.now = at;
		if (next) {
			client_event(next);
		} else if (sim.swap_end) {
			sim.swap_end = 0;
			policy_swapped(&sim.p, sim.swap_die, sim.now,
				       sim.swap_cost);
		}
		if (!sim.swap_end)
			sim_decide();
		assert_sane();
	}
}

/* The longest a slice, a request and a swap were. */
static uint64_t turn_bound(void)
{
	uint64_t work = 0;

	for (unsigned int i = 0; i < sim.n_clients; i++)
		if (sim.clients[i].work > work)
			work = sim.clients[i].work;
	return policy_slice_ns(&sim.p) + work + sim.swap_cost;
}

static const struct {
	unsigned int n_dies, n_clients;
	uint64_t swap_cost, think, work, slice;
	unsigned int late_every;
} loads[] = {
	/* every die busy all the time */
	{ 2, 8, MS, 0, MS, 0, 0 },
	{ 6, 48, MS, 0, MS, 0, 0 },
	{ 16, 48, 200 * NSEC_PER_USEC, 0, 300 * NSEC_PER_USEC, 0, 0 },
	/* synchronous readers with a pause */
	{ 6, 6, MS, 500 * NSEC_PER_USEC, MS, 0, 0 },
	{ 6, 24, 5 * MS, 20 * MS, 3 * MS, 0, 0 },
	/* slices of the user's, shorter than a request and longer than all */
	{ 6, 24, MS, 0, 4 * MS, MS, 0 },
	{ 6, 24, MS, MS, MS, 100 * MS, 0 },
	/* requests far longer than a slice, swaps that cost nothing */
	{ 4, 12, 0, MS, 100 * MS, 0, 0 },
	/* mostly idle */
	{ 6, 6, MS, NSEC_PER_SEC, MS, 0, 0 },
	/* synchronous readers that the machine holds up now and then */
	{ 6, 6, 5 * MS, 200 * NSEC_PER_USEC, MS, 0, 50 },
	{ 16, 16, MS, 200 * NSEC_PER_USEC, MS, 0, 20 },
};

static void start_load(size_t i, uint64_t seed)
{
	sim_init(seed, loads[i].n_dies, loads[i].swap_cost);
	sim.p.slice_set = loads[i].slice;
	for (unsigned int c = 0; c < loads[i].n_clients; c++)
		add_client(c % loads[i].n_dies, loads[i].think, loads[i].work)
			->late_every = loads[i].late_every;
}

START_TEST(wait_is_bounded_and_nobody_starves)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		start_load((size_t)_i, seed);
		sim_run(5 * NSEC_PER_SEC);
		ck_assert_msg(sim.longest_wait <= sim.n_dies * turn_bound(),
			      "seed %llu: waited %llu ns, bound %llu",
			      (unsigned long long)seed,
			      (unsigned long long)sim.longest_wait,
			      (unsigned long long)(sim.n_dies * turn_bound()));
		for (unsigned int c = 0; c < sim.n_clients; c++)
			ck_assert_uint_gt(sim.clients[c].n_answers, 0);
	}
}
END_TEST

START_TEST(equal_dies_get_equal_time)
{
	uint64_t answers[6] = { 0 }, least = UINT64_MAX, most = 0;

	start_load(1, 7);
	sim_run(60 * NSEC_PER_SEC);
	for (unsigned int c = 0; c < sim.n_clients; c++)
		answers[sim.clients[c].die] += sim.clients[c].n_answers;
	for (unsigned int die = 0; die < 6; die++) {
		least = MIN(least, answers[die]);
		most = answers[die] > most ? answers[die] : most;
	}
	ck_assert_uint_le(most - least, most / 10);
}
END_TEST

START_TEST(busy_slot_is_never_idle)
{
	start_load(1, 3);
	sim_run(10 * NSEC_PER_SEC);
	ck_assert_uint_ge(sim.busy, 10 * NSEC_PER_SEC * 99 / 100);
}
END_TEST

/* 20 swaps a slice: what the comment at POLICY_SLICE_SWAPS promises. */
START_TEST(swapping_takes_a_twentieth_of_a_busy_slot)
{
	start_load(1, 5);
	sim_run(10 * NSEC_PER_SEC);
	ck_assert_uint_gt(sim.n_swaps, 10);
	ck_assert_uint_le(sim.n_swaps * sim.swap_cost, 10 * NSEC_PER_SEC / 20);
}
END_TEST

/* One synchronous reader a die, each quicker to ask again than a swap. */
START_TEST(synchronous_readers_do_not_swap_once_a_request)
{
	uint64_t answers = 0;

	sim_init(11, 2, 2 * MS);
	add_client(0, MS, MS);
	add_client(1, MS, MS);
	sim_run(10 * NSEC_PER_SEC);
	for (unsigned int c = 0; c < sim.n_clients; c++)
		answers += sim.clients[c].n_answers;
	ck_assert_uint_ge(answers, 10 * sim.n_swaps);
}
END_TEST

START_TEST(lone_client_swaps_once)
{
	sim_init(13, 6, MS);
	add_client(4, 300 * MS, MS);
	sim_run(10 * NSEC_PER_SEC);
	ck_assert_uint_eq(sim.n_swaps, 1);
	ck_assert_uint_le(sim.longest_wait, sim.swap_cost);
}
END_TEST

/* Once is no reason to be waited for no more, and what was lost comes back. */
START_TEST(reader_that_is_held_up_now_and_then_keeps_its_share)
{
	uint64_t most = 0;

	sim_init(19, 6, MS);
	for (unsigned int die = 0; die < 6; die++)
		add_client(die, 150 * NSEC_PER_USEC, 300 * NSEC_PER_USEC);
	sim.clients[0].late_every = 200;
	sim_run(60 * NSEC_PER_SEC);
	for (unsigned int c = 1; c < sim.n_clients; c++)
		if (sim.clients[c].n_answers > most)
			most = sim.clients[c].n_answers;
	ck_assert_uint_ge(sim.clients[0].n_answers, most * 9 / 10);
}
END_TEST

/* An idle die does not make another's request wait for its slice. */
START_TEST(die_nobody_else_uses_costs_grace_and_a_swap)
{
	sim_init(17, 2, MS);
	add_client(0, 500 * MS, MS);
	add_client(1, 500 * MS, MS);
	sim_run(60 * NSEC_PER_SEC);
	ck_assert_uint_le(sim.longest_wait,
			  MS + policy_grace_ns(&sim.p) + 2 * sim.swap_cost);
}
END_TEST

/* Random events, in any order the scheduler may produce them. */

static struct {
	uint32_t waiting[POLICY_MAX_DIES];
	uint32_t small[POLICY_MAX_DIES];
	uint32_t running[POLICY_MAX_DIES];
} model;

static void random_decide(void)
{
	int active = sim.p.active;
	enum policy_evict evict = sim.p.evict;
	struct policy_step step = policy_next(&sim.p, sim.now);

	for (unsigned int die = 0; die < POLICY_MAX_DIES; die++) {
		support_assert(sim.p.dies[die].waiting == model.waiting[die]);
		support_assert(sim.p.dies[die].running == model.running[die]);
	}
	if (step.action == POLICY_KEEP)
		return;
	/* nothing runs on any die, and one swap at a time */
	for (unsigned int die = 0; die < POLICY_MAX_DIES; die++)
		support_assert(model.running[die] == 0);
	support_assert(sim.swap_die < 0);
	support_assert(step.die >= 0);
	support_assert(step.die < POLICY_MAX_DIES);
	if (active >= 0 && evict != POLICY_STAY) {
		support_assert(step.die == active);
		support_assert((step.action == POLICY_VACATE) ==
			       (evict == POLICY_OUT));
	} else {
		support_assert(step.action == POLICY_SWAP);
		support_assert(step.die != active);
		support_assert(model.waiting[step.die] > 0);
		support_assert(active < 0 || !sim.p.held);
	}
	sim.swap_die = step.die;
}

static void random_event(void)
{
	unsigned int die = (unsigned int)roll(4);
	bool is_small = roll(2);
	bool is_due;

	sim.now += roll(4) ? roll(MS) : roll(100 * MS);
	switch (roll(9)) {
	case 0:
	case 1:
		policy_wait(&sim.p, die, sim.now, is_small);
		model.waiting[die]++;
		model.small[die] += is_small;
		break;
	case 2:
		if (!model.waiting[die])
			break;
		/* of those that are there, as far as there is a choice */
		is_small = model.small[die] &&
			   (is_small || model.small[die] == model.waiting[die]);
		policy_unwait(&sim.p, die, is_small);
		model.waiting[die]--;
		model.small[die] -= is_small;
		break;
	case 3:
	case 4:
		if (!policy_may_run(&sim.p, die))
			break;
		/* never while the slot is being programmed */
		support_assert(sim.swap_die < 0);
		if (roll(2))
			policy_run(&sim.p, die, sim.now);
		else
			policy_start(&sim.p, die);
		model.running[die]++;
		break;
	case 5:
		if (!model.running[die])
			break;
		model.running[die]--;
		is_due = policy_done(&sim.p, die, sim.now);
		support_assert(!(is_due && model.running[die]));
		if (!policy_others_wait(&sim.p, sim.now) || sim.p.draining)
			support_assert(is_due ==
				       (!model.running[die] && sim.p.draining));
		break;
	case 6:
		if (sim.swap_die < 0)
			break;
		policy_swapped(&sim.p, roll(4) ? sim.swap_die : -1, sim.now,
			       roll(2) ? roll(10 * MS) : 0);
		sim.swap_die = -1;
		sim.p.held = false;
		break;
	case 7:
		if (sim.p.active >= 0 && sim.swap_die < 0)
			sim.p.held = !sim.p.held;
		break;
	default:
		if (sim.p.active >= 0 && sim.swap_die < 0 && !roll(4))
			sim.p.evict = roll(2) ? POLICY_OUT : POLICY_REBIND;
		break;
	}
}

START_TEST(random_events_never_break_an_invariant)
{
	for (uint64_t run = 0; run < 500; run++) {
		sim_init(1000 * (uint64_t)_i + run + 1, 4, MS);
		memset(&model, 0, sizeof(model));
		sim.swap_die = -1;
		for (int i = 0; i < 200; i++) {
			random_event();
			random_decide();
		}
	}
}
END_TEST

Suite *policy_sim_suite(void)
{
	Suite *suite = suite_create("policy_sim");
	TCase *load = tcase_create("load");
	TCase *events = tcase_create("events");

	tcase_set_timeout(load, 60);
	tcase_add_loop_test(load, wait_is_bounded_and_nobody_starves, 0,
			    ARRAY_SIZE(loads));
	tcase_add_test(load, equal_dies_get_equal_time);
	tcase_add_test(load, busy_slot_is_never_idle);
	tcase_add_test(load, swapping_takes_a_twentieth_of_a_busy_slot);
	tcase_add_test(load, synchronous_readers_do_not_swap_once_a_request);
	tcase_add_test(load, lone_client_swaps_once);
	tcase_add_test(load, reader_that_is_held_up_now_and_then_keeps_its_share);
	tcase_add_test(load, die_nobody_else_uses_costs_grace_and_a_swap);
	suite_add_tcase(suite, load);

	tcase_set_timeout(events, 60);
	tcase_add_loop_test(events, random_events_never_break_an_invariant, 0,
			    20);
	suite_add_tcase(suite, events);
	return suite;
}
