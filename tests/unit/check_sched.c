// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: grants, turns, drains, interrupts. */
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
	put(0);
	/* a client that asks again is worth waiting for */
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
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

START_TEST(die_whose_client_waits_for_another_gives_way_at_once)
{
	struct ask *other = ask_new(SCHED_IO, 1);

	fake_set_cost(4 * MS);
	occupy_die_0();
	put(0);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	put(0);
	other->req.pid = 4711 + 1;
	ask_submit(other);
	/* the clock stands still */
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

/* One that goes from die to die does not end another one's slice. */
START_TEST(die_of_several_clients_keeps_its_grace)
{
	struct ask *other = ask_new(SCHED_IO, 1), *second = ask_new(SCHED_IO, 0);

	fake_set_cost(4 * MS);
	occupy_die_0();
	put(0);
	second->req.pid = 99;
	ask_submit(second);
	ck_assert_int_eq(ask_wait(second), 0);
	put(0);
	other->req.pid = 99;
	ask_submit(other);
	fixture_settle();
	ck_assert(ask_is_open(other));
	fixture_advance(4 * MS);
	ck_assert_int_eq(ask_wait(other), 0);
	put(1);
}
END_TEST

START_TEST(die_whose_client_does_not_ask_again_gives_way_at_once)
{
	struct ask *other;

	fake_set_cost(4 * MS);
	occupy_die_0();
	put(0);
	fixture_advance(10 * MS);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	other = ask_start(SCHED_IO, 1);
	/* the clock stands still */
	put(0);
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

Suite *sched_suite(void)
{
	Suite *suite = suite_create("sched");
	TCase *turn = tcase_create("turn");
	TCase *interrupt = tcase_create("interrupt");

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
	tcase_add_test(turn,
		       die_whose_client_waits_for_another_gives_way_at_once);
	tcase_add_test(turn, die_of_several_clients_keeps_its_grace);
	tcase_add_test(turn,
		       die_whose_client_does_not_ask_again_gives_way_at_once);
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

	return suite;
}
