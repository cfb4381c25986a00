// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: SYNC, RELEASE, and its own end. */
#include <errno.h>

#include "sched/priv.h"
#include "sched_fixture.h"
#include "suites.h"

#define MS NSEC_PER_MSEC

static void put(unsigned int die)
{
	sched_put(fixture_sched, die);
}

/* Die 0 in, with one request that runs; the slot stays in use. */
static void occupy_die_0(void)
{
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
}

START_TEST(sync_of_a_die_that_is_out_does_nothing)
{
	struct ask *a = ask_new(SCHED_SYNC, 1);

	ck_assert_int_eq(sched_try(fixture_sched, &a->req), SCHED_NOTHING);
	occupy_die_0();
	ck_assert_int_eq(sched_try(fixture_sched, &a->req), SCHED_NOTHING);
	a->n_answers = 1;
	fixture_settle();
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	put(0);
}
END_TEST

START_TEST(sync_of_the_die_that_is_in_keeps_it_in)
{
	struct ask *sync = ask_new(SCHED_SYNC, 0), *other;

	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	fixture_advance(NSEC_PER_SEC);
	/* also while it drains */
	ck_assert_int_eq(sched_try(fixture_sched, &sync->req), 0);
	sync->n_answers = 1;
	put(0);
	fixture_settle();
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

/* Of the die that leaves (0), of the one that comes (1), of a third one. */
START_TEST(sync_during_a_swap_waits_and_never_swaps)
{
	struct ask *io, *sync;

	occupy_die_0();
	fake_hold(FAKE_BIND);
	io = ask_start(SCHED_IO, 1);
	put(0);
	fixture_advance(10 * MS);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	sync = ask_start(SCHED_SYNC, _i);
	fixture_settle();
	/* what the leaving die was given has not reached it yet */
	if (_i < 2)
		ck_assert(ask_is_open(sync));
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(sync), _i == 1 ? 0 : SCHED_NOTHING);
	ck_assert_int_eq(ask_wait(io), 0);
	put(1);
	if (_i == 1)
		put(1);
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 2);
}
END_TEST

START_TEST(release_waits_for_the_copy_then_takes_the_die_out)
{
	struct ask *a;

	occupy_die_0();
	a = ask_start(SCHED_RELEASE, 0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert(ask_is_open(a));
	ck_assert_int_eq(fake_bound(), 0);
	put(0);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_int_eq(fake_bound(), -1);
	ck_assert_uint_eq(fake_count(FAKE_UNBIND, 0), 1);
}
END_TEST

START_TEST(release_of_a_die_that_is_out_does_nothing)
{
	occupy_die_0();
	ck_assert_int_eq(ask_run(SCHED_RELEASE, 1), 0);
	ck_assert_uint_eq(fake_count(FAKE_UNBIND, FAKE_ANY_DIE), 0);
	ck_assert_int_eq(fake_bound(), 0);
	put(0);
}
END_TEST

START_TEST(release_that_fails_says_so_and_the_next_acquire_works)
{
	occupy_die_0();
	put(0);
	fake_fail(FAKE_UNBIND, 0, -EBUSY, 1);
	ck_assert_int_eq(ask_run(SCHED_RELEASE, 0), -EBUSY);
	ck_assert_int_eq(ask_run(SCHED_ACQUIRE, 0), 0);
}
END_TEST

START_TEST(release_lets_in_who_waits)
{
	struct ask *release, *other;

	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	release = ask_start(SCHED_RELEASE, 0);
	fixture_settle();
	put(0);
	ck_assert_int_eq(ask_wait(release), 0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(stop_answers_everybody_and_leaves_the_die_in)
{
	static const enum sched_op ops[] = { SCHED_IO,    SCHED_ACQUIRE,
					     SCHED_PIN,   SCHED_LEASE,
					     SCHED_RESET, SCHED_RELEASE };
	struct ask *a[ARRAY_SIZE(ops)];

	occupy_die_0();
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		a[i] = ask_start(ops[i], ops[i] == SCHED_RELEASE ? 0 : 1);
	fixture_settle();
	ck_assert_int_eq(sched_stop(fixture_sched), 0);
	sched_free(fixture_sched);
	fixture_sched = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		ck_assert_int_eq(a[i]->n_answers, 1);
		ck_assert_int_eq(a[i]->result, -ENODEV);
	}
	ck_assert_int_eq(fake_bound(), 0);
	ck_assert_uint_eq(fake_count(FAKE_UNBIND, FAKE_ANY_DIE), 0);
	ck_assert_uint_eq(fake_count(FAKE_REST, FAKE_ANY_DIE), 0);
}
END_TEST

/* A thread that was about to park when the daemon was told to stop. */
START_TEST(request_after_the_stop_is_answered_enodev)
{
	struct ask *tried = ask_new((enum sched_op)_i, 1);
	struct ask *parked = ask_new((enum sched_op)_i, 1);

	ck_assert_int_eq(sched_stop(fixture_sched), 0);
	ask_submit(tried);
	ck_assert_int_eq(ask_wait(tried), -ENODEV);
	sched_park(fixture_sched, &parked->req);
	ck_assert_int_eq(ask_wait(parked), -ENODEV);
	sched_free(fixture_sched);
	fixture_sched = NULL;
}
END_TEST

/* A reset that hangs: 75 s on hardware. */
START_TEST(stop_under_a_swap_that_hangs_is_bounded_and_says_ebusy)
{
	struct sched *left = fixture_sched;
	struct ask *a;

	fake_hold(FAKE_BIND);
	a = ask_start(SCHED_RESET, 1);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	ck_assert_int_eq(sched_stop(left), -EBUSY);
	fixture_sched = NULL;
	ck_assert_int_eq(a->n_answers, 1);
	ck_assert_int_eq(a->result, -ENODEV);
	ck_assert_uint_eq(fake_n_held(FAKE_BIND), 1);
	fake_let_go(FAKE_BIND);
	/* what the end of the process does otherwise */
	ck_assert_int_eq(pthread_join(left->slot_thread, NULL), 0);
	sched_free(left);
}
END_TEST

Suite *sched_control_suite(void)
{
	Suite *suite = suite_create("sched_control");
	TCase *control = tcase_create("control");
	TCase *stop = tcase_create("stop");

	tcase_add_checked_fixture(control, fixture_setup, fixture_teardown);
	tcase_add_test(control, sync_of_a_die_that_is_out_does_nothing);
	tcase_add_test(control, sync_of_the_die_that_is_in_keeps_it_in);
	tcase_add_loop_test(control, sync_during_a_swap_waits_and_never_swaps,
			    0, 3);
	tcase_add_test(control,
		       release_waits_for_the_copy_then_takes_the_die_out);
	tcase_add_test(control, release_of_a_die_that_is_out_does_nothing);
	tcase_add_test(control,
		       release_that_fails_says_so_and_the_next_acquire_works);
	tcase_add_test(control, release_lets_in_who_waits);
	suite_add_tcase(suite, control);

	tcase_add_checked_fixture(stop, fixture_setup, fixture_teardown);
	tcase_add_test(stop, stop_answers_everybody_and_leaves_the_die_in);
	tcase_add_loop_test(stop, request_after_the_stop_is_answered_enodev,
			    SCHED_IO, SCHED_RESET + 1);
	tcase_add_test(stop,
		       stop_under_a_swap_that_hangs_is_bounded_and_says_ebusy);
	suite_add_tcase(suite, stop);
	return suite;
}
