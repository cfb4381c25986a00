// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits: small requests that interrupt a slice. */
#include "policy_fixture.h"
#include "suites.h"

/* die 2 streams, its slice has begun */
static void stream_on_die_2(void)
{
	bring_in(2, MS);
	policy_run(&p, 2, now);
}

/* and die 4 comes on a visit, with die 2 waiting to come back */
static void visit_of_die_4(void)
{
	stream_on_die_2();
	policy_wait(&p, 4, now, true);
	policy_done(&p, 2, now);
	policy_wait(&p, 2, now, false);
	assert_swaps_to(4);
	policy_swapped(&p, 4, now, MS);
	policy_unwait(&p, 4, true);
}

START_TEST(small_request_interrupts_a_slice_and_gives_the_rest_back)
{
	uint64_t left;

	stream_on_die_2();
	now += MS;
	left = p.slice_end - now;
	policy_wait(&p, 4, now, true);
	/* drains first */
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
	ck_assert(policy_done(&p, 2, now));
	policy_wait(&p, 2, now, false);
	assert_swaps_to(4);
	now += MS;
	policy_swapped(&p, 4, now, MS);
	policy_unwait(&p, 4, true);
	ck_assert(policy_may_run(&p, 4));
	policy_run(&p, 4, now);
	now += MS / 10;
	policy_done(&p, 4, now);
	/* no grace for a visitor */
	assert_swaps_to(2);
	now += MS;
	policy_swapped(&p, 2, now, MS);
	ck_assert_uint_eq(p.slice_end, now + left);
}
END_TEST

/* _i: which of the two requests of the waiting die is small, if any */
START_TEST(large_request_does_not_interrupt_a_slice)
{
	stream_on_die_2();
	policy_wait(&p, 4, now, _i == 0);
	policy_wait(&p, 4, now, _i == 1);
	now += MS / 10;
	assert_keeps(now + policy_grace_ns(&p));
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

START_TEST(next_visit_comes_an_interval_after_the_last_one)
{
	uint64_t end;

	visit_of_die_4();
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	policy_unwait(&p, 2, false);
	policy_run(&p, 2, now);
	policy_wait(&p, 4, now, true);
	end = now + policy_visit_ns(&p);
	/* by wake-ups alone, the last one at the interval's end */
	while (now < end) {
		struct policy_step step = policy_next(&p, now);

		ck_assert(policy_may_run(&p, 2));
		ck_assert_uint_gt(step.wake, now);
		ck_assert_uint_le(step.wake, end);
		now = step.wake;
	}
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
}
END_TEST

START_TEST(visitor_that_left_does_not_end_the_slice)
{
	stream_on_die_2();
	policy_wait(&p, 5, now, false);
	policy_wait(&p, 4, now, true);
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 2));
	policy_unwait(&p, 4, true);
	assert_keeps(now + policy_grace_ns(&p));
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

START_TEST(visit_that_goes_on_is_ended)
{
	visit_of_die_4();
	policy_run(&p, 4, now);
	ck_assert_uint_eq(p.slice_end, now + MS);
	now = p.slice_end;
	assert_keeps(POLICY_NEVER);
	ck_assert(!policy_may_run(&p, 4));
	policy_done(&p, 4, now);
	assert_swaps_to(2);
}
END_TEST

START_TEST(longest_waiting_comes_when_the_interrupted_die_wants_nothing)
{
	uint64_t left;

	visit_of_die_4();
	left = p.visit_left;
	policy_unwait(&p, 2, false);
	policy_wait(&p, 6, now, false);
	assert_swaps_to(6);
	policy_swapped(&p, 6, now, MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p));
	policy_unwait(&p, 6, false);
	/* and it gets the rest of its slice later */
	now = p.slice_end;
	bring_in(2, MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p) + left);
}
END_TEST

/* A die whose requests outlast its slice gives way to whoever is next. */
START_TEST(slice_that_ends_before_its_visit_begins_has_none)
{
	stream_on_die_2();
	policy_wait(&p, 6, now, false);
	now += MS;
	policy_wait(&p, 4, now, true);
	assert_keeps(POLICY_NEVER);
	ck_assert_int_eq(p.visit_to, 4);
	now = p.slice_end + (_i == 0 ? 0 : MS);
	policy_done(&p, 2, now);
	assert_swaps_to(6);
	policy_swapped(&p, 6, now, MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p));
}
END_TEST

START_TEST(time_until_a_visit_begins_is_taken_from_the_slice)
{
	uint64_t end;

	stream_on_die_2();
	end = p.slice_end;
	policy_wait(&p, 4, now, true);
	assert_keeps(POLICY_NEVER);
	now = end - MS;
	policy_done(&p, 2, now);
	policy_wait(&p, 2, now, false);
	assert_swaps_to(4);
	policy_swapped(&p, 4, now, MS);
	policy_unwait(&p, 4, true);
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	ck_assert_uint_eq(p.slice_end, now + MS);
}
END_TEST

START_TEST(failed_visit_costs_the_slice_nothing_and_is_followed_by_an_interval)
{
	uint64_t left;

	stream_on_die_2();
	policy_wait(&p, 4, now, true);
	policy_done(&p, 2, now);
	policy_wait(&p, 2, now, false);
	assert_swaps_to(4);
	left = p.slice_end - now;
	policy_swapped(&p, -1, now, 0);
	policy_unwait(&p, 4, true);
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	ck_assert_uint_eq(p.slice_end, now + left + policy_slice_ns(&p));
	policy_unwait(&p, 2, false);
	policy_run(&p, 2, now);
	policy_wait(&p, 4, now, true);
	ck_assert_uint_le(policy_next(&p, now).wake, now + policy_visit_ns(&p));
	ck_assert(policy_may_run(&p, 2));
}
END_TEST

/* _i: how often in a row its client asked again only after the grace */
START_TEST(idle_die_is_waited_for_unless_its_client_was_late_twice)
{
	bool gives_way = _i >= 2;

	bring_in(2, 10 * MS);
	for (int i = 0; i < 2; i++) {
		policy_run(&p, 2, now);
		policy_done(&p, 2, now);
	}
	policy_run(&p, 2, now);
	for (int i = 0; i < _i; i++) {
		policy_done(&p, 2, now);
		now += policy_grace_ns(&p);
		policy_run(&p, 2, now);
	}
	policy_wait(&p, 4, now, false);
	ck_assert_int_eq(policy_done(&p, 2, now), gives_way);
	if (!gives_way) {
		assert_keeps(now + policy_grace_ns(&p));
		now += policy_grace_ns(&p);
	}
	assert_swaps_to(4);
}
END_TEST

/* _i: 0: the die was waited for in vain, 1: it used its slice up, 2: it was
 * not waited for */
START_TEST(slice_that_ended_early_is_given_back)
{
	uint64_t left = _i == 0 ? 100 * MS : 0;

	bring_in(2, 10 * MS);
	policy_run(&p, 2, now);
	policy_wait(&p, 4, now, false);
	now = p.slice_end - (_i == 1 ? 0 : 100 * MS);
	policy_done(&p, 2, now);
	if (_i == 0)
		now += policy_grace_ns(&p);
	else if (_i == 2)
		policy_leave(&p, 2);
	left -= _i == 0 ? policy_grace_ns(&p) : 0;
	assert_swaps_to(4);
	policy_swapped(&p, 4, now, 10 * MS);
	policy_unwait(&p, 4, false);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p));

	bring_in(2, 10 * MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p) + left);
	now = p.slice_end;
	bring_in(4, 10 * MS);
	now = p.slice_end;
	bring_in(2, 10 * MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p));
}
END_TEST

static void bring_in_and_wait_in_vain(unsigned int die, unsigned int next)
{
	bring_in((int)die, 10 * MS);
	policy_run(&p, die, now);
	policy_done(&p, die, now);
	policy_wait(&p, next, now, false);
	now += policy_grace_ns(&p);
	assert_swaps_to((int)next);
	policy_unwait(&p, next, false);
	p.swapping_to = -1;
}

START_TEST(only_the_die_that_was_held_up_last_gets_its_slice_back)
{
	bring_in_and_wait_in_vain(2, 4);
	bring_in_and_wait_in_vain(4, 2);
	bring_in(2, 10 * MS);
	ck_assert_uint_eq(p.slice_end, now + policy_slice_ns(&p));
	now = p.slice_end;
	bring_in(4, 10 * MS);
	ck_assert_uint_gt(p.slice_end, now + policy_slice_ns(&p));
}
END_TEST

START_TEST(swap_to_itself_is_no_new_slice)
{
	uint64_t end;

	stream_on_die_2();
	end = p.slice_end;
	policy_wait(&p, 4, now, false);
	p.evict = POLICY_REBIND;
	now += MS;
	policy_done(&p, 2, now);
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	ck_assert_uint_eq(p.slice_end, end);
}
END_TEST

START_TEST(requests_held_up_together_are_late_once)
{
	stream_on_die_2();
	policy_run(&p, 2, now);
	policy_done(&p, 2, now);
	policy_done(&p, 2, now);
	now += policy_grace_ns(&p);
	bring_in(4, MS);
	now = p.slice_end;
	policy_wait(&p, 2, now, false);
	policy_wait(&p, 2, now, false);
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	for (int i = 0; i < 2; i++) {
		policy_unwait(&p, 2, false);
		policy_start(&p, 2);
	}
	policy_wait(&p, 4, now, false);
	policy_done(&p, 2, now);
	policy_done(&p, 2, now);
	assert_keeps(now + policy_grace_ns(&p));
}
END_TEST

START_TEST(what_is_owed_shrinks_with_the_slice)
{
	p.slice_set = 1000 * MS;
	bring_in_and_wait_in_vain(2, 4);
	bring_in(4, MS);
	p.slice_set = 10 * MS;
	now += 1000 * MS;
	bring_in(2, MS);
	ck_assert_uint_eq(p.slice_end, now + 2 * policy_slice_ns(&p));
}
END_TEST

START_TEST(visit_leaves_what_the_visitor_is_owed)
{
	uint64_t visit;

	bring_in_and_wait_in_vain(4, 2);
	stream_on_die_2();
	now += policy_visit_ns(&p);
	policy_wait(&p, 4, now, true);
	policy_done(&p, 2, now);
	policy_wait(&p, 2, now, false);
	assert_swaps_to(4);
	policy_swapped(&p, 4, now, MS);
	policy_unwait(&p, 4, true);
	visit = p.slice_end - now;
	ck_assert_uint_lt(visit, policy_slice_ns(&p));
	assert_swaps_to(2);
	policy_swapped(&p, 2, now, MS);
	policy_unwait(&p, 2, false);
	now = p.slice_end;
	bring_in(4, MS);
	ck_assert_uint_gt(p.slice_end, now + policy_slice_ns(&p));
}
END_TEST

START_TEST(swap_that_was_held_up_does_not_move_the_estimate)
{
	for (int i = 0; i < 16; i++)
		policy_swapped(&p, i % 2, now, i % 4 == 3 ? 40 * MS : MS);
	ck_assert_uint_eq(p.swap_ns, MS);
}
END_TEST

Suite *policy_visit_suite(void)
{
	Suite *suite = suite_create("policy_visit");
	TCase *visit = tcase_create("visit");

	tcase_add_checked_fixture(visit, setup, NULL);
	tcase_add_test(visit,
		       small_request_interrupts_a_slice_and_gives_the_rest_back);
	tcase_add_loop_test(visit, large_request_does_not_interrupt_a_slice, 0,
			    3);
	tcase_add_test(visit, next_visit_comes_an_interval_after_the_last_one);
	tcase_add_test(visit, visitor_that_left_does_not_end_the_slice);
	tcase_add_test(visit, visit_that_goes_on_is_ended);
	tcase_add_test(
		visit,
		longest_waiting_comes_when_the_interrupted_die_wants_nothing);
	tcase_add_test(
		visit,
		failed_visit_costs_the_slice_nothing_and_is_followed_by_an_interval);
	tcase_add_loop_test(
		visit, idle_die_is_waited_for_unless_its_client_was_late_twice,
		0, 4);
	tcase_add_loop_test(visit, slice_that_ended_early_is_given_back, 0, 3);
	tcase_add_test(visit,
		       only_the_die_that_was_held_up_last_gets_its_slice_back);
	tcase_add_loop_test(
		visit, slice_that_ends_before_its_visit_begins_has_none, 0, 2);
	tcase_add_test(visit, time_until_a_visit_begins_is_taken_from_the_slice);
	tcase_add_test(visit, swap_to_itself_is_no_new_slice);
	tcase_add_test(visit, requests_held_up_together_are_late_once);
	tcase_add_test(visit, what_is_owed_shrinks_with_the_slice);
	tcase_add_test(visit, visit_leaves_what_the_visitor_is_owed);
	tcase_add_test(visit, swap_that_was_held_up_does_not_move_the_estimate);
	suite_add_tcase(suite, visit);
	return suite;
}
