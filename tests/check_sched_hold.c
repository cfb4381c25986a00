// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: pins, leases, and who waits for them how long. */
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

static void assert_hold(unsigned int die, const char *hold, const char *holder)
{
	struct sched_view view = view_of(die);

	ck_assert_str_eq(view.hold, hold);
	ck_assert_str_eq(view.holder, holder);
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

/* PIN and LEASE alike. */
START_TEST(hold_of_a_die_that_is_out_brings_it_in)
{
	take_hold((enum sched_op)_i, 2);
	ck_assert_int_eq(fake_bound(), 2);
	assert_hold(2, _i == SCHED_PIN ? "pin" : "lease", "4711 tester");
	assert_hold(1, "none", "");
}
END_TEST

START_TEST(hold_of_the_die_that_is_in_is_taken_at_once)
{
	struct ask *a = ask_new((enum sched_op)_i, 2);

	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 2), 0);
	ck_assert_int_eq(sched_try(fixture_sched, &a->req), 0);
	a->n_answers = 1;
	assert_hold(2, _i == SCHED_PIN ? "pin" : "lease", "4711 tester");
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 1);
}
END_TEST

START_TEST(held_die_stays_in_and_runs_its_requests)
{
	struct ask *other;

	take_hold((enum sched_op)_i, 0);
	other = blocked(1, 1000 * NSEC_PER_SEC);
	fixture_advance(999 * NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	ck_assert_uint_eq(fake_count(FAKE_REST, 0), 0);
	sched_interrupt(fixture_sched, &other->req);
	ck_assert_int_eq(ask_wait(other), -EINTR);
}
END_TEST

static const enum sched_op blocked_ops[] = { SCHED_IO, SCHED_ACQUIRE,
					     SCHED_PIN, SCHED_LEASE,
					     SCHED_RESET };

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
	assert_hold(0, "pin", "4711 tester");
}
END_TEST

static void end_by_unpin(struct ask *lease)
{
	(void)lease;
	sched_unpin(fixture_sched, 0);
}

static void end_by_drop(struct ask *lease)
{
	sched_drop(fixture_sched, &lease->hold);
}

static void end_by_release(struct ask *lease)
{
	(void)lease;
	ck_assert_int_eq(ask_run(SCHED_RELEASE, 0), 0);
}

static const struct {
	enum sched_op op;
	void (*end)(struct ask *a);
} ends[] = {
	{ SCHED_PIN, end_by_unpin },	 { SCHED_LEASE, end_by_unpin },
	{ SCHED_LEASE, end_by_drop },	 { SCHED_PIN, end_by_release },
	{ SCHED_LEASE, end_by_release },
};

START_TEST(end_of_a_hold_wakes_who_waits)
{
	struct ask *hold = ask_start(ends[_i].op, 0), *a, *b;

	ck_assert_int_eq(ask_wait(hold), 0);
	a = blocked(1, 1000 * NSEC_PER_SEC);
	b = blocked(1, 1000 * NSEC_PER_SEC);
	fixture_advance(NSEC_PER_SEC);
	ck_assert(ask_is_open(a));
	ends[_i].end(hold);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_int_eq(ask_wait(b), 0);
	ck_assert_int_eq(hold->hold.die, -1);
	assert_hold(0, "none", "");
	sched_put(fixture_sched, 1);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(two_leases_hold_until_both_are_dropped)
{
	struct ask *a = ask_start(SCHED_LEASE, 0), *b, *other;

	ck_assert_int_eq(ask_wait(a), 0);
	b = ask_start(SCHED_LEASE, 0);
	ck_assert_int_eq(ask_wait(b), 0);
	other = blocked(1, 1000 * NSEC_PER_SEC);
	sched_drop(fixture_sched, &a->hold);
	fixture_advance(NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	assert_hold(0, "lease", "4711 tester");
	sched_drop(fixture_sched, &b->hold);
	ck_assert_int_eq(ask_wait(other), 0);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(lease_taken_twice_by_one_file_is_one_lease)
{
	struct ask *a = ask_start(SCHED_LEASE, 0), *again, *other;

	ck_assert_int_eq(ask_wait(a), 0);
	again = ask_new(SCHED_LEASE, 0);
	again->req.hold = &a->hold;
	ask_submit(again);
	ck_assert_int_eq(ask_wait(again), 0);
	other = blocked(1, 1000 * NSEC_PER_SEC);
	fixture_advance(NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	sched_drop(fixture_sched, &a->hold);
	ck_assert_int_eq(ask_wait(other), 0);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(pin_outlasts_a_lease_of_the_same_die)
{
	struct ask *lease = ask_start(SCHED_LEASE, 0);

	ck_assert_int_eq(ask_wait(lease), 0);
	take_hold(SCHED_PIN, 0);
	assert_hold(0, "pin", "4711 tester");
	sched_drop(fixture_sched, &lease->hold);
	assert_hold(0, "pin", "4711 tester");
	ck_assert_int_eq(ask_wait(blocked(1, 0)), -ETIMEDOUT);
}
END_TEST

START_TEST(drop_of_what_is_not_held_changes_nothing)
{
	struct ask *a = ask_start(SCHED_LEASE, 0);
	struct sched_hold never = { .die = -1 };

	ck_assert_int_eq(ask_wait(a), 0);
	sched_drop(fixture_sched, &never);
	assert_hold(0, "lease", "4711 tester");
	sched_drop(fixture_sched, &a->hold);
	sched_drop(fixture_sched, &a->hold);
	take_hold(SCHED_PIN, 0);
	sched_drop(fixture_sched, &a->hold);
	assert_hold(0, "pin", "4711 tester");
}
END_TEST

START_TEST(drop_after_another_ended_the_lease_changes_nothing)
{
	struct ask *a = ask_start(SCHED_LEASE, 0);

	ck_assert_int_eq(ask_wait(a), 0);
	sched_unpin(fixture_sched, 0);
	ck_assert_int_eq(a->hold.die, -1);
	take_hold(SCHED_PIN, 0);
	sched_drop(fixture_sched, &a->hold);
	assert_hold(0, "pin", "4711 tester");
}
END_TEST

START_TEST(unpin_of_another_die_or_of_none_changes_nothing)
{
	sched_unpin(fixture_sched, 0);
	take_hold(SCHED_PIN, 0);
	sched_unpin(fixture_sched, 1);
	assert_hold(0, "pin", "4711 tester");
	sched_unpin(fixture_sched, 0);
	sched_unpin(fixture_sched, 0);
	assert_hold(0, "none", "");
}
END_TEST

START_TEST(interrupted_pin_leaves_no_hold)
{
	struct ask *pin;

	fake_hold(FAKE_BIND);
	pin = ask_start((enum sched_op)_i, 0);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	sched_interrupt(fixture_sched, &pin->req);
	ck_assert_int_eq(ask_wait(pin), -EINTR);
	fake_let_go(FAKE_BIND);
	support_wait_until(fake_bound() == 0);
	assert_hold(0, "none", "");
	ck_assert_int_eq(pin->hold.die, -1);
}
END_TEST

START_TEST(pin_that_failed_leaves_no_hold)
{
	fake_fail(FAKE_BIND, 0, -EIO, 1);
	ck_assert_int_eq(ask_run((enum sched_op)_i, 0), -EIO);
	assert_hold(0, "none", "");
	ck_assert_int_eq(ask_run(SCHED_IO, 1), 0);
}
END_TEST

/* The die that was held is not in any more: there is nothing to hold. */
START_TEST(failed_reset_of_a_held_die_ends_the_hold)
{
	struct ask *other, *lease = ask_start(SCHED_LEASE, 0);

	ck_assert_int_eq(ask_wait(lease), 0);
	other = blocked(1, 1000 * NSEC_PER_SEC);
	fake_fail(FAKE_BIND, 0, -EIO, 1);
	ck_assert_int_eq(ask_run(SCHED_RESET, 0), -EIO);
	ck_assert_int_eq(ask_wait(other), 0);
	ck_assert_int_eq(lease->hold.die, -1);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(reset_of_a_held_die_keeps_the_hold)
{
	take_hold(SCHED_PIN, 0);
	ck_assert_int_eq(ask_run(SCHED_RESET, 0), 0);
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
	assert_hold(0, "pin", "4711 tester");
	ck_assert_int_eq(ask_wait(blocked(1, 0)), -ETIMEDOUT);
}
END_TEST

START_TEST(each_change_of_a_hold_is_told)
{
	struct ask *lease;
	unsigned int before;

	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
	fixture_settle();
	before = fixture_n_changed;
	lease = ask_start(SCHED_LEASE, 0);
	ck_assert_int_eq(ask_wait(lease), 0);
	support_wait_until(fixture_n_changed > before);
	fixture_settle();

	before = fixture_n_changed;
	sched_drop(fixture_sched, &lease->hold);
	support_wait_until(fixture_n_changed > before);

	take_hold(SCHED_PIN, 0);
	fixture_settle();
	before = fixture_n_changed;
	ck_assert_int_eq(ask_wait(blocked(1, 0)), -ETIMEDOUT);
	support_wait_until(fixture_n_changed > before);
	fixture_settle();

	before = fixture_n_changed;
	sched_unpin(fixture_sched, 0);
	support_wait_until(fixture_n_changed > before);
}
END_TEST

Suite *sched_hold_suite(void)
{
	Suite *suite = suite_create("sched_hold");
	TCase *take = tcase_create("take");
	TCase *wait = tcase_create("wait");
	TCase *end = tcase_create("end");

	tcase_add_checked_fixture(take, fixture_setup, fixture_teardown);
	tcase_add_loop_test(take, hold_of_a_die_that_is_out_brings_it_in,
			    SCHED_PIN, SCHED_LEASE + 1);
	tcase_add_loop_test(take, hold_of_the_die_that_is_in_is_taken_at_once,
			    SCHED_PIN, SCHED_LEASE + 1);
	tcase_add_loop_test(take, held_die_stays_in_and_runs_its_requests,
			    SCHED_PIN, SCHED_LEASE + 1);
	tcase_add_loop_test(take, interrupted_pin_leaves_no_hold, SCHED_PIN,
			    SCHED_LEASE + 1);
	tcase_add_loop_test(take, pin_that_failed_leaves_no_hold, SCHED_PIN,
			    SCHED_LEASE + 1);
	tcase_add_test(take, failed_reset_of_a_held_die_ends_the_hold);
	tcase_add_test(take, reset_of_a_held_die_keeps_the_hold);
	tcase_add_test(take, each_change_of_a_hold_is_told);
	suite_add_tcase(suite, take);

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
	tcase_add_test(wait, each_request_has_a_wait_of_its_own);
	tcase_add_loop_test(wait, hold_that_has_just_begun_expires_nobody,
			    SCHED_PIN, SCHED_LEASE + 1);
	tcase_add_test(wait, wait_counts_only_time_blocked_by_a_hold);
	tcase_add_test(wait, refusal_is_noted_at_the_die_that_was_asked_for);
	tcase_add_test(wait, interrupt_ends_a_wait_for_a_hold);
	suite_add_tcase(suite, wait);

	tcase_add_checked_fixture(end, fixture_setup, fixture_teardown);
	tcase_add_loop_test(end, end_of_a_hold_wakes_who_waits, 0,
			    ARRAY_SIZE(ends));
	tcase_add_test(end, two_leases_hold_until_both_are_dropped);
	tcase_add_test(end, lease_taken_twice_by_one_file_is_one_lease);
	tcase_add_test(end, pin_outlasts_a_lease_of_the_same_die);
	tcase_add_test(end, drop_of_what_is_not_held_changes_nothing);
	tcase_add_test(end, drop_after_another_ended_the_lease_changes_nothing);
	tcase_add_test(end, unpin_of_another_die_or_of_none_changes_nothing);
	suite_add_tcase(suite, end);
	return suite;
}
