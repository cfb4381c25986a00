// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: grants, turns, drains, interrupts, SYNC and RELEASE. */
#include <errno.h>

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

START_TEST(try_of_a_die_that_is_out_asks_to_park_and_calls_nobody)
{
	struct ask *a = ask_new(SCHED_IO, 1);

	ck_assert_int_eq(sched_try(fixture_sched, &a->req), -EAGAIN);
	fixture_settle();
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 0);
	sched_park(fixture_sched, &a->req);
	ck_assert_int_eq(ask_wait(a), 0);
	put(1);
}
END_TEST

START_TEST(parked_request_runs_when_its_die_is_in)
{
	ck_assert_int_eq(ask_run(SCHED_IO, 2), 0);
	ck_assert_int_eq(fake_bound(), 2);
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 1);
	ck_assert_uint_eq(fake_bind_flags(), 0);
}
END_TEST

START_TEST(requests_of_the_die_that_is_in_run_at_once_side_by_side)
{
	occupy_die_0();
	for (int i = 0; i < 20; i++) {
		struct ask *a = ask_new(SCHED_IO, 0);

		ck_assert_int_eq(sched_try(fixture_sched, &a->req), 0);
		a->n_answers = 1;
	}
	for (int i = 0; i < 21; i++)
		put(0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 1);
}
END_TEST

START_TEST(all_that_waited_for_a_die_run_after_one_swap)
{
	struct ask *a[10];

	fake_hold(FAKE_BIND);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = ask_start(SCHED_IO, 3);
	fake_let_go(FAKE_BIND);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		ck_assert_int_eq(ask_wait(a[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		put(3);
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 1);
}
END_TEST

START_TEST(die_in_use_keeps_the_slot_for_its_slice)
{
	struct ask *other, *again;

	fake_set_cost(MS); /* slice: 20 ms */
	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	fixture_advance(19 * MS);
	again = ask_new(SCHED_IO, 0);
	ck_assert_int_eq(sched_try(fixture_sched, &again->req), 0);
	again->n_answers = 1;
	put(0);
	fixture_advance(2 * MS);
	/* the slice is over, the die drains */
	again = ask_start(SCHED_IO, 0);
	ck_assert(ask_is_open(again));
	ck_assert(ask_is_open(other));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
	fixture_advance(20 * MS);
	ck_assert_int_eq(ask_wait(again), 0);
	put(0);
}
END_TEST

START_TEST(swap_waits_for_the_copy_that_runs_however_long)
{
	struct ask *other;

	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	fixture_advance(1000 * NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(die_gives_way_when_idle_for_longer_than_grace)
{
	struct ask *other;

	fake_set_cost(4 * MS); /* grace: the same */
	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	put(0);
	fixture_advance(4 * MS - 1);
	ck_assert(ask_is_open(other));
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
	fixture_advance(1);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(slice_set_by_hand_counts_from_the_next_swap)
{
	struct ask *other;

	sched_set_slice(fixture_sched, 300);
	ck_assert_uint_eq(sched_slice_ms(fixture_sched), 300);
	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	fixture_advance(299 * MS);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	put(0);
	fixture_advance(MS);
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
	sched_set_slice(fixture_sched, 0);
	ck_assert_uint_eq(sched_slice_ms(fixture_sched), 0);
}
END_TEST

/* wait= is about holds: waiting for one's turn never times out. */
START_TEST(turn_that_is_long_in_coming_does_not_time_out)
{
	struct ask *other = ask_new(SCHED_IO, 1);

	other->req.wait_ns = 1;
	other->req.nowait = _i;
	occupy_die_0();
	ask_submit(other);
	fixture_advance(1000 * NSEC_PER_SEC);
	ck_assert(ask_is_open(other));
	put(0);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(dies_get_their_turns_in_the_order_they_asked)
{
	static const int order[] = { 2, 3, 1 };
	struct ask *a[3];

	occupy_die_0();
	for (size_t i = 0; i < 3; i++) {
		a[i] = ask_start(SCHED_IO, order[i]);
		fixture_advance(1);
	}
	put(0);
	for (size_t i = 0; i < 3; i++) {
		fixture_advance(NSEC_PER_SEC);
		ck_assert_int_eq(ask_wait(a[i]), 0);
		ck_assert_int_eq(fake_bound(), order[i]);
		put((unsigned int)order[i]);
	}
}
END_TEST

START_TEST(view_counts_who_waits)
{
	struct sched_view view;
	struct ask *a, *b;

	occupy_die_0();
	a = ask_start(SCHED_IO, 1);
	b = ask_start(SCHED_IO, 1);
	sched_view(fixture_sched, 1, &view);
	ck_assert_uint_eq(view.waiters, 2);
	ck_assert_str_eq(view.hold, "none");
	ck_assert_str_eq(view.holder, "");
	put(0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_int_eq(ask_wait(b), 0);
	sched_view(fixture_sched, 1, &view);
	ck_assert_uint_eq(view.waiters, 0);
	put(1);
	put(1);
}
END_TEST

START_TEST(interrupt_during_a_swap_is_answered_before_the_swap_ends)
{
	struct ask *a, *b;

	fake_hold(FAKE_BIND);
	a = ask_start(SCHED_IO, 1);
	b = ask_start(SCHED_ACQUIRE, 1);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	sched_interrupt(fixture_sched, &a->req);
	ck_assert_int_eq(ask_wait(a), -EINTR);
	ck_assert(ask_is_open(b));
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(b), 0);
}
END_TEST

START_TEST(interrupt_during_a_drain_is_answered_and_ends_the_drain)
{
	struct ask *other;

	occupy_die_0();
	other = ask_start(SCHED_IO, 1);
	fixture_advance(NSEC_PER_SEC);
	sched_interrupt(fixture_sched, &other->req);
	ck_assert_int_eq(ask_wait(other), -EINTR);
	fixture_settle();
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	put(0);
	fixture_advance(NSEC_PER_SEC);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 0);
}
END_TEST

START_TEST(interrupt_before_the_park_is_not_lost)
{
	struct ask *a = ask_new(SCHED_IO, 1);

	fake_hold(FAKE_BIND);
	ck_assert_int_eq(sched_try(fixture_sched, &a->req), -EAGAIN);
	sched_interrupt(fixture_sched, &a->req);
	fixture_settle();
	ck_assert(ask_is_open(a));
	sched_park(fixture_sched, &a->req);
	ck_assert_int_eq(ask_wait(a), -EINTR);
}
END_TEST

START_TEST(interrupt_reaches_every_kind_of_request)
{
	struct ask *a;

	occupy_die_0();
	/* RELEASE waits for the copy, SYNC of it would not wait */
	a = ask_start((enum sched_op)_i, _i == SCHED_RELEASE ? 0 : 1);
	fixture_settle();
	ck_assert(ask_is_open(a));
	sched_interrupt(fixture_sched, &a->req);
	ck_assert_int_eq(ask_wait(a), -EINTR);
	put(0);
}
END_TEST

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
	static const enum sched_op ops[] = { SCHED_IO,	  SCHED_ACQUIRE,
					     SCHED_PIN,	  SCHED_LEASE,
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
	/* not freed then: to be seen from here, so that it is no leak */
	static struct sched *left;
	struct ask *a;

	fake_hold(FAKE_BIND);
	a = ask_start(SCHED_RESET, 1);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	left = fixture_sched;
	ck_assert_int_eq(sched_stop(fixture_sched), -EBUSY);
	fixture_sched = NULL;
	ck_assert_ptr_nonnull(left);
	ck_assert_int_eq(a->n_answers, 1);
	ck_assert_int_eq(a->result, -ENODEV);
	ck_assert_uint_eq(fake_n_held(FAKE_BIND), 1);
	fake_let_go(FAKE_BIND);
	support_wait_until(fake_bound() == 1);
}
END_TEST

Suite *sched_suite(void)
{
	Suite *suite = suite_create("sched");
	TCase *turn = tcase_create("turn");
	TCase *interrupt = tcase_create("interrupt");
	TCase *control = tcase_create("control");

	tcase_add_checked_fixture(turn, fixture_setup, fixture_teardown);
	tcase_add_test(turn,
		       try_of_a_die_that_is_out_asks_to_park_and_calls_nobody);
	tcase_add_test(turn, parked_request_runs_when_its_die_is_in);
	tcase_add_test(turn,
		       requests_of_the_die_that_is_in_run_at_once_side_by_side);
	tcase_add_test(turn, all_that_waited_for_a_die_run_after_one_swap);
	tcase_add_test(turn, die_in_use_keeps_the_slot_for_its_slice);
	tcase_add_test(turn, swap_waits_for_the_copy_that_runs_however_long);
	tcase_add_test(turn, die_gives_way_when_idle_for_longer_than_grace);
	tcase_add_test(turn, slice_set_by_hand_counts_from_the_next_swap);
	tcase_add_loop_test(turn, turn_that_is_long_in_coming_does_not_time_out,
			    0, 2);
	tcase_add_test(turn, dies_get_their_turns_in_the_order_they_asked);
	tcase_add_test(turn, view_counts_who_waits);
	suite_add_tcase(suite, turn);

	tcase_add_checked_fixture(interrupt, fixture_setup, fixture_teardown);
	tcase_add_test(interrupt,
		       interrupt_during_a_swap_is_answered_before_the_swap_ends);
	tcase_add_test(interrupt,
		       interrupt_during_a_drain_is_answered_and_ends_the_drain);
	tcase_add_test(interrupt, interrupt_before_the_park_is_not_lost);
	tcase_add_loop_test(interrupt, interrupt_reaches_every_kind_of_request,
			    SCHED_ACQUIRE, SCHED_RESET + 1);
	suite_add_tcase(suite, interrupt);

	tcase_add_checked_fixture(control, fixture_setup, fixture_teardown);
	tcase_add_test(control, sync_of_a_die_that_is_out_does_nothing);
	tcase_add_test(control, sync_of_the_die_that_is_in_keeps_it_in);
	tcase_add_loop_test(control, sync_during_a_swap_waits_and_never_swaps, 0,
			    3);
	tcase_add_test(control,
		       release_waits_for_the_copy_then_takes_the_die_out);
	tcase_add_test(control, release_of_a_die_that_is_out_does_nothing);
	tcase_add_test(control,
		       release_that_fails_says_so_and_the_next_acquire_works);
	tcase_add_test(control, release_lets_in_who_waits);
	tcase_add_test(control, stop_answers_everybody_and_leaves_the_die_in);
	tcase_add_loop_test(control, request_after_the_stop_is_answered_enodev,
			    SCHED_IO, SCHED_RESET + 1);
	tcase_add_test(control,
		       stop_under_a_swap_that_hangs_is_bounded_and_says_ebusy);
	suite_add_tcase(suite, control);
	return suite;
}
