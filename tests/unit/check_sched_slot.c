// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler and a slot that fails, is looked at again, or is another's. */
#include <errno.h>

#include "sched_fixture.h"
#include "suites.h"

#define MS NSEC_PER_MSEC

static void put(unsigned int die)
{
	sched_put(fixture_sched, die);
}

static const int bind_errors[] = { -EIO, -EBUSY, -ENODEV, -EPERM };

START_TEST(failed_swap_answers_all_waiters_of_that_die_only)
{
	struct ask *a[3], *other;

	fake_hold(FAKE_BIND);
	fake_fail(FAKE_BIND, 0, bind_errors[_i], 1);
	a[0] = ask_start(SCHED_IO, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	a[1] = ask_start(SCHED_PIN, 0);
	a[2] = ask_start(SCHED_ACQUIRE, 0);
	other = ask_start(SCHED_IO, 1);
	fake_let_go(FAKE_BIND);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		ck_assert_int_eq(ask_wait(a[i]), bind_errors[_i]);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
	ck_assert_int_eq(ask_run(SCHED_RELEASE, 1), 0);
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
}
END_TEST

/* The daemon was stopped, say: none of those who wait has had a signal. */
START_TEST(swap_that_was_interrupted_is_made_again)
{
	static const enum sched_op ops[] = { SCHED_IO, SCHED_PIN, SCHED_ACQUIRE,
					     SCHED_RESET };
	struct ask *a, *other;

	fake_fail(FAKE_BIND, 1, -EINTR, 2);
	a = ask_start(ops[_i], 1);
	other = ask_start(SCHED_IO, 1);
	for (unsigned int n = 1; n <= 2; n++) {
		support_wait_until(fake_count(FAKE_BIND, 1) == n);
		fixture_settle();
		ck_assert(ask_is_open(a));
		fixture_advance(10 * MS);
	}
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_int_eq(ask_wait(other), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 3);
	put(1);
	if (ops[_i] == SCHED_IO)
		put(1);
}
END_TEST

/* Nor does it end the hold that it was made for. */
START_TEST(swap_of_a_held_die_that_was_interrupted_keeps_the_hold)
{
	struct sched_view view;

	ck_assert_int_eq(ask_run(SCHED_PIN, 1), 0);
	fake_fail(FAKE_BIND, 1, -EINTR, 1);
	ask_start(SCHED_ACQUIRE, 1);
	support_wait_until(fake_count(FAKE_BIND, 1) == 2);
	fixture_settle();
	fixture_advance(10 * MS);
	sched_view(fixture_sched, 1, &view);
	ck_assert_str_eq(view.hold, "pin");
	ck_assert_int_eq(ask_run(SCHED_RELEASE, 1), 0);
}
END_TEST

START_TEST(acquire_of_the_die_that_is_in_looks_at_it_again)
{
	struct ask *a;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	a = ask_start(SCHED_ACQUIRE, 0);
	fixture_settle();
	/* after the copy that runs */
	ck_assert(ask_is_open(a));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 1);
	put(0);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
	ck_assert_uint_eq(fake_bind_flags(), 0);
	ck_assert_uint_eq(fixture_be.swaps, 1);
}
END_TEST

/* _i: an acquire, or a reset; neither may renew a turn that is over */
START_TEST(bind_of_a_die_whose_turn_is_over_comes_with_its_next_one)
{
	struct ask *a, *other;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	other = ask_start(SCHED_IO, 1);
	fixture_advance(NSEC_PER_SEC);
	a = ask_start(_i ? SCHED_RESET : SCHED_ACQUIRE, 0);
	fixture_settle();
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	ck_assert(ask_is_open(a));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 1);
	put(1);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_uint_eq(fake_bind_flags(), _i ? BS_FORCE_SBR : 0);
}
END_TEST

START_TEST(acquire_that_finds_the_die_gone_fails)
{
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
	fake_fail(FAKE_BIND, 0, -EIO, 1);
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), -EIO);
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
}
END_TEST

START_TEST(reset_reaches_bind_as_a_flag)
{
	if (_i)
		ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	ck_assert_int_eq(ask_run(SCHED_RESET, 0), 0);
	ck_assert_uint_eq(fake_bind_flags(), BS_FORCE_SBR);
	ck_assert_uint_eq(backend_generation(&fixture_be, 0), 1);
	/* and the next bind is a plain one */
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
	ck_assert_uint_eq(fake_bind_flags(), 0);
}
END_TEST

START_TEST(reset_waits_for_the_copy_that_runs)
{
	struct ask *a;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	a = ask_start(SCHED_RESET, 0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert(ask_is_open(a));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 1);
	put(0);
	ck_assert_int_eq(ask_wait(a), 0);
}
END_TEST

/* Whoever only wants to read has not asked for it. */
START_TEST(reset_that_fails_is_the_error_of_who_ordered_it_alone)
{
	struct ask *reset, *io, *pin;

	fake_hold(FAKE_BIND);
	fake_fail(FAKE_BIND, 0, -EPERM, 1);
	reset = ask_start(SCHED_RESET, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	io = ask_start(SCHED_IO, 0);
	pin = ask_start(SCHED_PIN, 0);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(reset), -EPERM);
	ck_assert_int_eq(ask_wait(io), 0);
	ck_assert_int_eq(ask_wait(pin), 0);
	put(0);
}
END_TEST

/* The swap that is under way has no reset in it. */
START_TEST(reset_that_comes_during_a_plain_swap_is_still_done)
{
	struct ask *io, *reset;

	fake_hold(FAKE_BIND);
	io = ask_start(SCHED_IO, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	reset = ask_start(SCHED_RESET, 0);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(io), 0);
	ck_assert_uint_eq(backend_generation(&fixture_be, 0), 0);
	put(0);
	ck_assert_int_eq(ask_wait(reset), 0);
	ck_assert_uint_eq(backend_generation(&fixture_be, 0), 1);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
}
END_TEST

START_TEST(reset_holds_up_no_other_die_for_ever)
{
	struct ask *reset, *other, *late;

	fake_hold(FAKE_BIND);
	reset = ask_start(SCHED_RESET, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	other = ask_start(SCHED_IO, 1);
	late = ask_start(SCHED_IO, 2);
	/* parked requests are looked after while the reset takes its time */
	sched_interrupt(fixture_sched, &late->req);
	ck_assert_int_eq(ask_wait(late), -EINTR);
	ck_assert(ask_is_open(other));
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(reset), 0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(suspect_die_is_looked_at_before_the_next_request)
{
	struct ask *a = ask_new(SCHED_IO, 0);

	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	sched_suspect(fixture_sched, 0);
	ck_assert_int_eq(sched_try(fixture_sched, &a->req), -EAGAIN);
	sched_park(fixture_sched, &a->req);
	ck_assert_int_eq(ask_wait(a), 0);
	put(0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
	/* once */
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
}
END_TEST

START_TEST(suspect_die_that_is_gone_fails_its_requests_only)
{
	struct ask *other;

	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	sched_suspect(fixture_sched, 0);
	fake_fail(FAKE_BIND, 0, -EIO, 1);
	ck_assert_int_eq(ask_run(SCHED_IO, 0), -EIO);
	other = ask_start(SCHED_IO, 1);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(suspect_die_waits_for_its_other_copies)
{
	struct ask *a;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	sched_suspect(fixture_sched, 0);
	a = ask_start(SCHED_IO, 0);
	fixture_settle();
	ck_assert(ask_is_open(a));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 1);
	put(0);
	ck_assert_int_eq(ask_wait(a), 0);
	put(0);
}
END_TEST

START_TEST(slot_leased_elsewhere_is_tried_again_until_it_is_free)
{
	struct ask *a;

	fake_fail(FAKE_BIND, 0, -EAGAIN, 3);
	a = ask_start(SCHED_IO, 0);
	for (unsigned int tries = 1; tries <= 3; tries++) {
		support_wait_until(fake_count(FAKE_BIND, 0) == tries);
		fixture_settle();
		ck_assert(ask_is_open(a));
		/* not sooner than that: it costs a call */
		fixture_settle();
		ck_assert_uint_eq(fake_count(FAKE_BIND, 0), tries);
		support_wait_until((mock_clock_advance(MS),
				    fake_count(FAKE_BIND, 0) > tries));
	}
	ck_assert_int_eq(ask_wait(a), 0);
	put(0);
}
END_TEST

START_TEST(slot_leased_elsewhere_counts_as_blocked)
{
	struct ask *a = ask_new(SCHED_IO, 0);

	fake_fail(FAKE_BIND, 0, -EAGAIN, 1000000);
	a->req.wait_ns = 100 * MS;
	ask_submit(a);
	support_wait_until(fake_count(FAKE_BIND, 0) >= 1);
	fixture_settle();
	ck_assert(ask_is_open(a));
	support_wait_until((mock_clock_advance(10 * MS), !ask_is_open(a)));
	ck_assert_int_eq(ask_wait(a), -ETIMEDOUT);
	ck_assert_uint_eq(fake_count(FAKE_UNBIND, FAKE_ANY_DIE), 0);
}
END_TEST

START_TEST(slot_leased_elsewhere_with_nowait_returns_ebusy)
{
	struct ask *a = ask_new(SCHED_IO, 0);

	fake_fail(FAKE_BIND, 0, -EAGAIN, 1000000);
	a->req.nowait = true;
	ask_submit(a);
	ck_assert_int_eq(ask_wait(a), -EBUSY);
}
END_TEST

START_TEST(slot_leased_elsewhere_is_forgotten_when_nobody_asks)
{
	struct ask *a = ask_new(SCHED_IO, 0);

	fake_fail(FAKE_BIND, 0, -EAGAIN, 1);
	a->req.nowait = true;
	ask_submit(a);
	ck_assert_int_eq(ask_wait(a), -EBUSY);
	fixture_settle();
	a = ask_new(SCHED_IO, 0);
	a->req.nowait = true;
	ask_submit(a);
	support_wait_until((mock_clock_advance(MS), !ask_is_open(a)));
	ck_assert_int_eq(ask_wait(a), 0);
	put(0);
}
END_TEST

START_TEST(idle_die_is_left_to_other_processes_after_a_while)
{
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	fixture_advance(99 * MS);
	ck_assert_uint_eq(fake_count(FAKE_REST, 0), 0);
	fixture_advance(MS);
	support_wait_until(fake_count(FAKE_REST, 0) == 1);
	/* it stays where it is, and comes back without a swap */
	ck_assert_int_eq(fake_bound(), 0);
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
	ck_assert_uint_eq(fixture_be.swaps, 1);
	ck_assert_uint_eq(fake_count(FAKE_UNBIND, FAKE_ANY_DIE), 0);
}
END_TEST

START_TEST(die_in_use_or_held_is_not_left_to_other_processes)
{
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	if (_i)
		ck_assert_int_eq(ask_run(SCHED_PIN, 0), 0);
	if (_i)
		put(0);
	fixture_advance(1000 * NSEC_PER_SEC);
	ck_assert_uint_eq(fake_count(FAKE_REST, 0), 0);
	if (!_i)
		put(0);
}
END_TEST

START_TEST(busy_die_gives_other_processes_a_turn)
{
	struct ask *a;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	fake_set_waiters(1);
	/* past the slice, and past the next look */
	fixture_advance(NSEC_PER_SEC);
	fixture_settle();
	a = ask_start(SCHED_IO, 0);
	fixture_settle();
	ck_assert(ask_is_open(a));
	put(0);
	support_wait_until(fake_count(FAKE_REST, 0) == 1);
	fake_set_waiters(0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 1);
	support_wait_until((mock_clock_advance(MS), !ask_is_open(a)));
	ck_assert_int_eq(ask_wait(a), 0);
	put(0);
}
END_TEST

/*
 * A pinned die was removed and another process took the slot. Whether the pin
 * outlives that or not: while it stands no other die comes in, and who asked
 * for the pinned die gets an answer.
 */
START_TEST(held_die_that_is_lost_to_another_process_blocks_nobody_for_ever)
{
	struct ask *other, *look;
	struct sched_view view;

	ck_assert_int_eq(ask_run(SCHED_PIN, 0), 0);
	other = ask_new(SCHED_IO, 1);
	other->req.wait_ns = 10 * NSEC_PER_SEC;
	ask_submit(other);
	fixture_advance(MS);
	fake_fail(FAKE_BIND, 0, -EAGAIN, 1);
	look = ask_start(SCHED_ACQUIRE, 0);
	for (int i = 0; i < 200 && ask_is_open(look); i++) {
		support_nap();
		fixture_advance(10 * MS);
	}
	ck_assert(!ask_is_open(look));
	sched_view(fixture_sched, 0, &view);
	if (view.hold[0] == 'p')
		ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	sched_unpin(fixture_sched, 0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

Suite *sched_slot_suite(void)
{
	Suite *suite = suite_create("sched_slot");
	TCase *failure = tcase_create("failure");
	TCase *look = tcase_create("look");
	TCase *share = tcase_create("share");

	tcase_add_checked_fixture(failure, fixture_setup, fixture_teardown);
	tcase_add_loop_test(failure,
			    failed_swap_answers_all_waiters_of_that_die_only, 0,
			    ARRAY_SIZE(bind_errors));
	tcase_add_loop_test(
		failure,
		bind_of_a_die_whose_turn_is_over_comes_with_its_next_one, 0, 2);
	tcase_add_test(failure, acquire_that_finds_the_die_gone_fails);
	tcase_add_test(failure, suspect_die_that_is_gone_fails_its_requests_only);
	suite_add_tcase(suite, failure);

	tcase_add_checked_fixture(look, fixture_setup, fixture_teardown);
	tcase_add_loop_test(look, swap_that_was_interrupted_is_made_again, 0, 4);
	tcase_add_test(look,
		       swap_of_a_held_die_that_was_interrupted_keeps_the_hold);
	tcase_add_test(look, acquire_of_the_die_that_is_in_looks_at_it_again);
	tcase_add_loop_test(look, reset_reaches_bind_as_a_flag, 0, 2);
	tcase_add_test(look, reset_waits_for_the_copy_that_runs);
	tcase_add_test(look, reset_that_comes_during_a_plain_swap_is_still_done);
	tcase_add_test(look,
		       reset_that_fails_is_the_error_of_who_ordered_it_alone);
	tcase_add_test(look, reset_holds_up_no_other_die_for_ever);
	tcase_add_test(look, suspect_die_is_looked_at_before_the_next_request);
	tcase_add_test(look, suspect_die_waits_for_its_other_copies);
	suite_add_tcase(suite, look);

	tcase_add_checked_fixture(share, fixture_setup, fixture_teardown);
	tcase_add_test(share,
		       slot_leased_elsewhere_is_tried_again_until_it_is_free);
	tcase_add_test(share, slot_leased_elsewhere_counts_as_blocked);
	tcase_add_test(share, slot_leased_elsewhere_with_nowait_returns_ebusy);
	tcase_add_test(share,
		       slot_leased_elsewhere_is_forgotten_when_nobody_asks);
	tcase_add_test(share, idle_die_is_left_to_other_processes_after_a_while);
	tcase_add_loop_test(
		share, die_in_use_or_held_is_not_left_to_other_processes, 0, 2);
	tcase_add_test(share, busy_die_gives_other_processes_a_turn);
	tcase_add_test(
		share,
		held_die_that_is_lost_to_another_process_blocks_nobody_for_ever);
	suite_add_tcase(suite, share);
	return suite;
}
