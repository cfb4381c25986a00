// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: who waits for another's hold, how long, and what they hear. */
#include <errno.h>
#include <string.h>

#include "sched_fixture.h"
#include "suites.h"

#define MS NSEC_PER_MSEC

static struct sched_view view_of(unsigned int die)
{
	struct sched_view view;

	sched_view(fixture_sched, die, &view);
	return view;
}

static void take_hold(enum sched_op op, int die)
{
	ck_assert_int_eq(ask_run(op, die), 0);
}

static struct ask *blocked(int die, uint64_t wait_ns)
{
	struct ask *a = ask_new(SCHED_IO, die);

	a->req.wait_ns = wait_ns;
	ask_submit(a);
	return a;
}

static const enum sched_op blocked_ops[] = { SCHED_IO, SCHED_ACQUIRE, SCHED_PIN,
					     SCHED_LEASE, SCHED_RESET };

START_TEST(nowait_while_another_die_is_held_returns_ebusy)
{
	struct ask *a = ask_new(blocked_ops[_i], 1);

	a->req.nowait = true;
	take_hold(SCHED_PIN, 0);
	ck_assert_int_eq(sched_try(fixture_sched, &a->req), -EBUSY);
	a->n_answers = 1;
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
}
END_TEST

/* A copy between dies: its client falls back to reads and writes. */
START_TEST(request_that_gives_way_to_a_hold_returns_exdev)
{
	struct ask *parked = ask_new(SCHED_IO, 1);
	struct ask *tried = ask_new(SCHED_IO, 1);

	sched_set_slice(fixture_sched, 1000);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	parked->req.gives_way = tried->req.gives_way = true;
	ask_submit(parked);
	fixture_settle();
	/* only to a hold: a turn is waited for */
	ck_assert(ask_is_open(parked));
	take_hold(SCHED_PIN, 0);
	ck_assert_int_eq(ask_wait(parked), -EXDEV);
	ck_assert_int_eq(sched_try(fixture_sched, &tried->req), -EXDEV);
	tried->n_answers = 1;
	sched_put(fixture_sched, 0);
}
END_TEST

START_TEST(nowait_that_is_parked_when_a_hold_begins_returns_ebusy)
{
	struct ask *a = ask_new(SCHED_IO, 1);

	sched_set_slice(fixture_sched, 1000);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	a->req.nowait = true;
	ask_submit(a);
	fixture_settle();
	ck_assert(ask_is_open(a));
	take_hold(SCHED_PIN, 0);
	ck_assert_int_eq(ask_wait(a), -EBUSY);
	sched_put(fixture_sched, 0);
}
END_TEST

START_TEST(wait_while_another_die_is_held_returns_etimedout)
{
	struct ask *a = ask_new(blocked_ops[_i], 1);

	a->req.wait_ns = 100 * MS;
	take_hold(SCHED_LEASE, 0);
	ask_submit(a);
	fixture_advance(100 * MS - 1);
	ck_assert(ask_is_open(a));
	fixture_advance(1);
	ck_assert_int_eq(ask_wait(a), -ETIMEDOUT);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
}
END_TEST

START_TEST(wait_of_zero_times_out_at_once)
{
	take_hold(SCHED_PIN, 0);
	ck_assert_int_eq(ask_wait(blocked(1, 0)), -ETIMEDOUT);
}
END_TEST

START_TEST(wait_begins_when_the_request_does)
{
	struct ask *late;

	take_hold(SCHED_PIN, 0);
	fixture_advance(10 * NSEC_PER_SEC);
	late = blocked(1, 100 * MS);
	fixture_advance(99 * MS);
	ck_assert(ask_is_open(late));
	fixture_advance(MS);
	ck_assert_int_eq(ask_wait(late), -ETIMEDOUT);
}
END_TEST

START_TEST(each_request_has_a_wait_of_its_own)
{
	struct ask *late, *early;

	take_hold(SCHED_PIN, 0);
	late = blocked(1, 200 * MS);
	early = blocked(2, 100 * MS);
	fixture_advance(100 * MS);
	ck_assert_int_eq(ask_wait(early), -ETIMEDOUT);
	ck_assert(ask_is_open(late));
	fixture_advance(100 * MS);
	ck_assert_int_eq(ask_wait(late), -ETIMEDOUT);
}
END_TEST

/* Blocked for 60 ms, free for 5 s (but not in turn), blocked again. */
START_TEST(wait_counts_only_time_blocked_by_a_hold)
{
	struct ask *other;

	sched_set_slice(fixture_sched, 10000);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	take_hold(SCHED_PIN, 0);
	other = blocked(1, 100 * MS);
	fixture_advance(60 * MS);
	sched_unpin(fixture_sched, 0);
	fixture_advance(5 * NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	take_hold(SCHED_PIN, 0);
	fixture_advance(39 * MS);
	ck_assert(ask_is_open(other));
	fixture_advance(MS);
	ck_assert_int_eq(ask_wait(other), -ETIMEDOUT);
	sched_put(fixture_sched, 0);
}
END_TEST

/* With a clock that moves between two looks at it: the hold begins later than
 * the round of the scheduler that grants it. */
START_TEST(hold_that_has_just_begun_expires_nobody)
{
	struct ask *other, *pin;

	mock_clock_tick(NSEC_PER_USEC);
	fake_hold(FAKE_BIND);
	pin = ask_start((enum sched_op)_i, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	other = blocked(1, 60 * NSEC_PER_SEC);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(pin), 0);
	fixture_settle();
	ck_assert(ask_is_open(other));
	sched_unpin(fixture_sched, 0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert_int_eq(ask_wait(other), 0);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(refusal_is_noted_at_the_die_that_was_asked_for)
{
	struct sched_view view;

	take_hold(SCHED_PIN, 0);
	ck_assert_uint_eq(view_of(1).note_count, 0);
	ck_assert_int_eq(ask_wait(blocked(1, 0)), -ETIMEDOUT);
	view = view_of(1);
	ck_assert_uint_eq(view.note_count, 1);
	ck_assert_ptr_nonnull(strstr(view.note, "4711 tester"));
	ck_assert_ptr_nonnull(strstr(view.note, "die 0"));
	ck_assert_ptr_nonnull(strstr(view.note, "die 1"));
	ck_assert_uint_eq(view_of(0).note_count, 0);
	ck_assert_uint_eq(view_of(2).note_count, 0);
}
END_TEST

START_TEST(interrupt_ends_a_wait_for_a_hold)
{
	struct ask *other;

	take_hold(SCHED_PIN, 0);
	other = blocked(1, 1000 * NSEC_PER_SEC);
	fixture_settle();
	sched_interrupt(fixture_sched, &other->req);
	ck_assert_int_eq(ask_wait(other), -EINTR);
	ck_assert_str_eq(view_of(0).hold, "pin");
}
END_TEST

Suite *sched_wait_suite(void)
{
	Suite *suite = suite_create("sched_wait");
	TCase *wait = tcase_create("wait");

	tcase_add_checked_fixture(wait, fixture_setup, fixture_teardown);
	tcase_add_loop_test(wait, nowait_while_another_die_is_held_returns_ebusy,
			    0, ARRAY_SIZE(blocked_ops));
	tcase_add_test(wait, request_that_gives_way_to_a_hold_returns_exdev);
	tcase_add_test(wait,
		       nowait_that_is_parked_when_a_hold_begins_returns_ebusy);
	tcase_add_loop_test(wait,
			    wait_while_another_die_is_held_returns_etimedout, 0,
			    ARRAY_SIZE(blocked_ops));
	tcase_add_test(wait, wait_of_zero_times_out_at_once);
	tcase_add_test(wait, wait_begins_when_the_request_does);
	tcase_add_test(wait, each_request_has_a_wait_of_its_own);
	tcase_add_loop_test(wait, hold_that_has_just_begun_expires_nobody,
			    SCHED_PIN, SCHED_LEASE + 1);
	tcase_add_test(wait, wait_counts_only_time_blocked_by_a_hold);
	tcase_add_test(wait, refusal_is_noted_at_the_die_that_was_asked_for);
	tcase_add_test(wait, interrupt_ends_a_wait_for_a_hold);
	suite_add_tcase(suite, wait);
	return suite;
}
