// SPDX-License-Identifier: GPL-2.0-or-later
/* Who gets the slot next: single decisions. */
#include "policy_fixture.h"
#include "suites.h"

START_TEST(init_leaves_a_vacant_slot_that_nobody_wants)
{
	ck_assert_int_eq(p.active, -1);
	ck_assert_int_eq(p.swapping_to, -1);
	ck_assert(!policy_others_wait(&p, 0));
	for (unsigned int die = 0; die < POLICY_MAX_DIES; die++)
		ck_assert(!policy_may_run(&p, die));
	assert_keeps(POLICY_NEVER);
}
END_TEST

START_TEST(vacant_slot_goes_to_whoever_waits_at_once)
{
	policy_wait(&p, 15, now, false);
	ck_assert(policy_others_wait(&p, now));
	assert_swaps_to(15);
	/* not twice, and nothing runs before it is in */
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 15));
	policy_swapped(&p, 15, now, MS);
	ck_assert(policy_may_run(&p, 15));
	ck_assert(!policy_may_run(&p, 14));
}
END_TEST

START_TEST(longest_waiting_die_comes_first)
{
	static const unsigned int order[] = { 3, 0, 7, 1 };

	bring_in(9, 0);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		policy_wait(&p, order[i], ++now, false);
	/* later requests of a die do not move it */
	policy_wait(&p, 3, ++now, false);
	policy_wait(&p, 9, ++now, false);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		now += POLICY_MIN_SLICE_NS;
		assert_swaps_to((int)order[i]);
		policy_swapped(&p, (int)order[i], now, 0);
		policy_unwait(&p, order[i], false);
		if (order[i] == 3)
			policy_unwait(&p, 3, false);
	}
	now += POLICY_MIN_SLICE_NS;
	assert_swaps_to(9);
}
END_TEST

START_TEST(die_alone_keeps_the_slot_for_ever)
{
	bring_in(2, MS);
	now += 3600 * NSEC_PER_SEC;
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

START_TEST(running_die_keeps_the_slot_for_its_slice_then_drains)
{
	uint64_t slice_end;

	bring_in(2, MS);
	slice_end = now + policy_slice_ns(&p);
	policy_run(&p, 2, now);
	policy_wait(&p, 5, now, false);
	for (; now < slice_end; now += MS / 4) {
		struct policy_step step = policy_next(&p, now);

		ck_assert_int_eq(step.action, POLICY_KEEP);
		ck_assert_uint_gt(step.wake, now);
		ck_assert_uint_le(step.wake, slice_end);
		ck_assert(policy_may_run(&p, 2));
	}
	now = slice_end;
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
	/* the swap waits for the request that runs, however long */
	now += NSEC_PER_SEC;
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_done(&p, 2, now));
	assert_swaps_to(5);
}
END_TEST

START_TEST(drain_waits_for_the_last_request_of_several)
{
	bring_in(2, MS);
	policy_run(&p, 2, now);
	policy_run(&p, 2, now);
	policy_wait(&p, 5, now, false);
	ck_assert(!policy_done(&p, 2, now));
	policy_run(&p, 2, now);
	now += policy_slice_ns(&p);
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_done(&p, 2, now));
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_done(&p, 2, now));
	assert_swaps_to(5);
}
END_TEST

/* A synchronous reader asks again a little after each answer. */
START_TEST(synchronous_reader_keeps_the_slot_through_grace)
{
	const uint64_t cost = 4 * MS;
	uint64_t slice_end;

	bring_in(2, cost);
	ck_assert_uint_ge(policy_grace_ns(&p), cost);
	slice_end = now + policy_slice_ns(&p);
	policy_wait(&p, 5, now, false);
	while (now + cost < slice_end) {
		struct policy_step step;

		policy_run(&p, 2, now);
		now += cost / 2;
		ck_assert(!policy_done(&p, 2, now));
		now += cost / 2;
		step = policy_next(&p, now);
		ck_assert_int_eq(step.action, POLICY_KEEP);
		ck_assert(policy_may_run(&p, 2));
	}
	now = slice_end;
	assert_swaps_to(5);
}
END_TEST

START_TEST(die_idle_for_longer_than_grace_gives_way_at_once)
{
	uint64_t idle_end;

	bring_in(2, 2 * MS);
	policy_run(&p, 2, now);
	now += MS;
	policy_done(&p, 2, now);
	idle_end = now + policy_grace_ns(&p);
	policy_wait(&p, 5, now, false);
	assert_keeps(idle_end);
	now = idle_end - 1;
	assert_keeps(idle_end);
	now = idle_end;
	assert_swaps_to(5);
}
END_TEST

START_TEST(die_that_was_idle_before_anyone_waited_gives_way_at_once)
{
	bring_in(2, MS);
	now += NSEC_PER_SEC;
	policy_wait(&p, 5, now, false);
	assert_swaps_to(5);
}
END_TEST

START_TEST(held_die_stays_while_others_wait)
{
	bring_in(2, MS);
	p.held = true;
	policy_wait(&p, 5, now, false);
	now += 3600 * NSEC_PER_SEC;
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_may_run(&p, 2));
	p.held = false;
	assert_swaps_to(5);
}
END_TEST

START_TEST(hold_taken_during_a_drain_ends_the_drain)
{
	bring_in(2, MS);
	policy_run(&p, 2, now);
	policy_wait(&p, 5, now, false);
	now += policy_slice_ns(&p);
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
	p.held = true;
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

START_TEST(drain_ends_when_whoever_waited_has_left)
{
	bring_in(2, MS);
	policy_run(&p, 2, now);
	policy_wait(&p, 5, now, false);
	now += policy_slice_ns(&p);
	assert_keeps(POLICY_NEVER);
	policy_unwait(&p, 5, false);
	assert_keeps(POLICY_NEVER);
	ck_assert(policy_may_run(&p, 2));
	ck_assert(!policy_done(&p, 2, now));
	assert_keeps(POLICY_NEVER);
}
END_TEST

START_TEST(evict_vacates_whatever_slice_and_hold_say)
{
	struct policy_step step;

	bring_in(2, MS);
	p.held = _i & 1;
	if (_i & 2)
		policy_wait(&p, 5, now, false);
	policy_run(&p, 2, now);
	p.evict = POLICY_OUT;
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
	ck_assert(policy_done(&p, 2, now));
	step = policy_next(&p, now);
	ck_assert_int_eq(step.action, POLICY_VACATE);
	ck_assert_int_eq(step.die, 2);
	policy_swapped(&p, -1, now, 0);
	ck_assert_int_eq(p.active, -1);
	ck_assert_int_eq(p.evict, POLICY_STAY);
}
END_TEST

START_TEST(rebind_swaps_the_die_to_itself_after_a_drain)
{
	bring_in(2, MS);
	p.held = _i & 1;
	if (_i & 2)
		policy_wait(&p, 5, now, false);
	policy_run(&p, 2, now);
	policy_wait(&p, 2, now, false);
	p.evict = POLICY_REBIND;
	assert_keeps(POLICY_NEVER);
	policy_done(&p, 2, now);
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, 0);
	ck_assert_int_eq(p.evict, POLICY_STAY);
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

START_TEST(failed_swap_leaves_the_slot_vacant_for_the_next_die)
{
	policy_wait(&p, 1, now, false);
	policy_wait(&p, 2, now + 1, false);
	assert_swaps_to(1);
	policy_swapped(&p, -1, now, 0);
	ck_assert_int_eq(p.active, -1);
	policy_unwait(&p, 1, false);
	assert_swaps_to(2);
}
END_TEST

START_TEST(slice_is_twenty_swaps_and_at_least_the_floor)
{
	static const struct {
		uint64_t cost, slice, grace;
	} rows[] = {
		{ 0, POLICY_MIN_SLICE_NS, POLICY_MIN_GRACE_NS },
		{ 1, POLICY_MIN_SLICE_NS, POLICY_MIN_GRACE_NS },
		{ 200000, POLICY_MIN_SLICE_NS, POLICY_MIN_GRACE_NS },
		{ 250000, 5 * MS, POLICY_MIN_GRACE_NS },
		{ MS, 20 * MS, MS },
		{ 5 * MS, 100 * MS, 5 * MS },
	};

	bring_in(0, rows[_i].cost);
	ck_assert_uint_eq(policy_slice_ns(&p), rows[_i].slice);
	ck_assert_uint_eq(policy_grace_ns(&p), rows[_i].grace);
	ck_assert_uint_eq(p.slice_end, now + rows[_i].slice);
}
END_TEST

START_TEST(slice_set_by_the_user_replaces_the_auto_one)
{
	p.slice_set = MS;
	bring_in(0, 10 * MS);
	ck_assert_uint_eq(policy_slice_ns(&p), MS);
	ck_assert_uint_eq(p.slice_end, now + MS);
	p.slice_set = 0;
	ck_assert_uint_eq(policy_slice_ns(&p), 200 * MS);
}
END_TEST

START_TEST(swap_estimate_follows_what_swaps_cost)
{
	bring_in(0, MS);
	ck_assert_uint_eq(p.swap_ns, MS);
	for (int i = 0; i < 30; i++)
		policy_swapped(&p, 0, now, 4 * MS);
	ck_assert_uint_ge(p.swap_ns, 4 * MS - MS / 100);
	ck_assert_uint_le(p.swap_ns, 4 * MS);
	for (int i = 0; i < 30; i++)
		policy_swapped(&p, 0, now, MS);
	ck_assert_uint_le(p.swap_ns, MS + MS / 100);
}
END_TEST

START_TEST(swap_that_programmed_nothing_leaves_the_estimate)
{
	bring_in(0, 2 * MS);
	policy_swapped(&p, 0, now, 0);
	policy_swapped(&p, -1, now, 0);
	ck_assert_uint_eq(p.swap_ns, 2 * MS);
}
END_TEST

/* The reset inside a first acquire takes seconds. */
START_TEST(reset_inside_a_swap_hardly_moves_the_estimate)
{
	bring_in(0, 75 * NSEC_PER_SEC);
	ck_assert_uint_le(p.swap_ns, POLICY_MAX_SWAP_NS);
	ck_assert_uint_le(policy_slice_ns(&p),
			  POLICY_SLICE_SWAPS * POLICY_MAX_SWAP_NS);
}
END_TEST

Suite *policy_suite(void)
{
	Suite *suite = suite_create("policy");
	TCase *turn = tcase_create("turn");
	TCase *stay = tcase_create("stay");
	TCase *slice = tcase_create("slice");

	tcase_add_checked_fixture(turn, setup, NULL);
	tcase_add_test(turn, init_leaves_a_vacant_slot_that_nobody_wants);
	tcase_add_test(turn, vacant_slot_goes_to_whoever_waits_at_once);
	tcase_add_test(turn, longest_waiting_die_comes_first);
	tcase_add_test(turn, failed_swap_leaves_the_slot_vacant_for_the_next_die);
	tcase_add_test(turn,
		       running_die_keeps_the_slot_for_its_slice_then_drains);
	tcase_add_test(turn, drain_waits_for_the_last_request_of_several);
	tcase_add_test(turn, drain_ends_when_whoever_waited_has_left);
	tcase_add_loop_test(turn, evict_vacates_whatever_slice_and_hold_say, 0,
			    4);
	tcase_add_loop_test(turn, rebind_swaps_the_die_to_itself_after_a_drain,
			    0, 4);
	suite_add_tcase(suite, turn);

	tcase_add_checked_fixture(stay, setup, NULL);
	tcase_add_test(stay, die_alone_keeps_the_slot_for_ever);
	tcase_add_test(stay, synchronous_reader_keeps_the_slot_through_grace);
	tcase_add_test(stay, die_idle_for_longer_than_grace_gives_way_at_once);
	tcase_add_test(stay,
		       die_that_was_idle_before_anyone_waited_gives_way_at_once);
	tcase_add_test(stay, held_die_stays_while_others_wait);
	tcase_add_test(stay, hold_taken_during_a_drain_ends_the_drain);
	suite_add_tcase(suite, stay);

	tcase_add_checked_fixture(slice, setup, NULL);
	tcase_add_loop_test(slice, slice_is_twenty_swaps_and_at_least_the_floor,
			    0, 6);
	tcase_add_test(slice, slice_set_by_the_user_replaces_the_auto_one);
	tcase_add_test(slice, swap_estimate_follows_what_swaps_cost);
	tcase_add_test(slice, swap_that_programmed_nothing_leaves_the_estimate);
	tcase_add_test(slice, reset_inside_a_swap_hardly_moves_the_estimate);
	suite_add_tcase(suite, slice);
	return suite;
}
