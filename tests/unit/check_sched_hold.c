// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: pins and leases, how they begin and end. */
#include <errno.h>

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
	{ SCHED_PIN, end_by_unpin },     { SCHED_LEASE, end_by_unpin },
	{ SCHED_LEASE, end_by_drop },    { SCHED_PIN, end_by_release },
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
