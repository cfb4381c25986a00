// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler: a FLUSH runs before all else of its die. */
#include <errno.h>

#include "sched_fixture.h"
#include "suites.h"

#define MS NSEC_PER_MSEC

static struct ask *flush_start(int die)
{
	struct ask *a = ask_new(SCHED_FLUSH, die);

	ck_assert(sched_flush(fixture_sched, &a->req, SCHED_FLUSH_FIRST, 0));
	return a;
}

static struct ask *flush_now(int die)
{
	struct ask *a = flush_start(die);

	sched_hurry(fixture_sched, (unsigned int)die);
	return a;
}

static bool is_refused(int die)
{
	struct ask *a = ask_new(SCHED_FLUSH, die);
	bool done = sched_flush(fixture_sched, &a->req, SCHED_FLUSH_FIRST, 0);

	a->n_answers = 1; /* nothing was to be answered */
	return !done;
}

START_TEST(flush_brings_its_die_in)
{
	struct ask *a = flush_now(1);

	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert_int_eq(fake_bound(), 1);
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_run(SCHED_IO, 1), 0);
}
END_TEST

START_TEST(flush_of_a_die_that_is_in_or_coming_is_refused)
{
	struct ask *a;

	fake_hold(FAKE_BIND);
	a = ask_start(SCHED_IO, 1);
	support_wait_until(fake_n_held(FAKE_BIND));
	ck_assert(is_refused(1));
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(ask_wait(a), 0);
	ck_assert(is_refused(1));
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(flush_of_a_die_that_a_hold_keeps_out_is_refused)
{
	struct ask *flush;

	ck_assert_int_eq(ask_run(SCHED_PIN, 0), 0);
	ck_assert(is_refused(1));
	sched_unpin(fixture_sched, 0);
	flush = flush_now(1);
	ck_assert_int_eq(ask_wait(flush), 0);
	sched_flushed(fixture_sched, 1);
}
END_TEST

START_TEST(flush_is_lazy_while_another_die_is_used)
{
	struct ask *flush;

	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	flush = flush_start(1);
	fixture_advance(49 * MS);
	ck_assert(ask_is_open(flush));
	if (_i == 0)
		fixture_advance(MS);
	else if (_i == 1)
		sched_hurry(fixture_sched, 1);
	else
		ask_start(SCHED_ACQUIRE, 1);
	ck_assert_int_eq(ask_wait(flush), 0);
	sched_flushed(fixture_sched, 1);
}
END_TEST

/* The flush met a die that does not answer: it is looked at first. */
START_TEST(requests_that_waited_for_a_flush_do_not_start_on_a_suspect_die)
{
	struct ask *flush, *after;

	flush = flush_now(1);
	ck_assert_int_eq(ask_wait(flush), 0);
	after = ask_start(SCHED_IO, 1);
	fixture_settle();
	ck_assert(ask_is_open(after));
	sched_suspect(fixture_sched, 1);
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(after), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 2);
	sched_put(fixture_sched, 1);
}
END_TEST

/* Earlier and later ones; and none is sent away when the slice ends first. */
START_TEST(other_requests_of_the_die_wait_for_the_flush)
{
	struct ask *before, *flush, *after, *other;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	before = ask_start(SCHED_IO, 1);
	flush = flush_start(1);
	sched_put(fixture_sched, 0);
	fixture_advance(10 * MS);
	ck_assert_int_eq(ask_wait(flush), 0);
	after = ask_start(SCHED_IO, 1);
	fixture_settle();
	ck_assert(ask_is_open(before));
	ck_assert(ask_is_open(after));
	/* its slice is over while it is flushed */
	other = ask_start(SCHED_IO, 2);
	fixture_advance(1000 * MS);
	ck_assert(ask_is_open(before));
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(before), 0);
	ck_assert_int_eq(ask_wait(after), 0);
	ck_assert(ask_is_open(other));
	sched_put(fixture_sched, 1);
	sched_put(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(other), 0);
	sched_put(fixture_sched, 2);
}
END_TEST

START_TEST(flush_that_is_parked_again_leaves_no_gap)
{
	struct ask *flush = flush_now(1), *io;

	ck_assert_int_eq(ask_wait(flush), 0);
	io = ask_start(SCHED_IO, 1);
	flush->n_answers = 0;
	ck_assert(sched_flush(fixture_sched, &flush->req, SCHED_FLUSH_AGAIN, 0));
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(flush), 0);
	fixture_settle();
	ck_assert(ask_is_open(io));
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(io), 0);
	sched_put(fixture_sched, 1);
}
END_TEST

START_TEST(flush_whose_die_does_not_come_in_is_told_and_bars_nobody)
{
	struct ask *flush;

	fake_fail(FAKE_BIND, 1, -EIO, 1);
	flush = flush_now(1);
	ck_assert_int_eq(ask_wait(flush), -EIO);
	ck_assert_int_eq(ask_run(SCHED_IO, 1), 0);
}
END_TEST

static const int passing[] = { -EBUSY, -ENOMEM };

/* A driver that is bound, say: the bytes wait for its end. */
START_TEST(flush_outlasts_what_passes)
{
	struct ask *flush, *io;

	fake_fail(FAKE_BIND, 1, passing[_i], 2);
	flush = flush_now(1);
	support_wait_until(fake_count(FAKE_BIND, 1) == 1);
	fixture_settle();
	/* not at once again */
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 1);
	io = ask_start(SCHED_IO, 1);
	ck_assert_int_eq(ask_wait(io), passing[_i]);
	ck_assert(ask_is_open(flush));
	fixture_advance(1000 * MS);
	ck_assert_int_eq(ask_wait(flush), 0);
	sched_flushed(fixture_sched, 1);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 3);
}
END_TEST

/* The die came in, and refused the copy. Nobody may hang behind that. */
START_TEST(flush_that_its_die_refused_is_put_off)
{
	struct ask *flush = flush_now(1), *io;

	ck_assert_int_eq(ask_wait(flush), 0);
	io = ask_start(SCHED_IO, 1);
	flush->n_answers = 0;
	ck_assert(sched_flush(fixture_sched, &flush->req, SCHED_FLUSH_LATER,
			      -EBUSY));
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(io), -EBUSY);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 1)), -EBUSY);
	fixture_settle();
	ck_assert(ask_is_open(flush));
	fixture_advance(1000 * MS);
	ck_assert_int_eq(ask_wait(flush), 0);
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_run(SCHED_IO, 1), 0);
}
END_TEST

START_TEST(hold_begins_when_all_is_flushed)
{
	struct ask *flush, *pin;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	flush = flush_start(1);
	pin = ask_start(_i ? SCHED_LEASE : SCHED_PIN, 0);
	/* or they would never end */
	ck_assert(is_refused(2));
	sched_put(fixture_sched, 0);
	/* the clock stands still: not after the slice, nor after a while */
	ck_assert_int_eq(ask_wait(flush), 0);
	fixture_settle();
	ck_assert(ask_is_open(pin));
	sched_flushed(fixture_sched, 1);
	ck_assert_int_eq(ask_wait(pin), 0);
	ck_assert_int_eq(fake_bound(), 0);
}
END_TEST

static void advance_until(struct ask *a)
{
	for (int i = 0; i < 100 && ask_is_open(a); i++)
		fixture_advance(10 * MS);
	ck_assert_int_eq(ask_wait(a), 0);
}

/* Two holds wait, each for what is to be flushed: their dies' turns must not
 * keep that from having one. */
START_TEST(holds_that_wait_do_not_starve_the_flush)
{
	struct ask *flush, *a, *b;

	fake_set_cost(MS);
	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 3)), 0);
	a = ask_start(SCHED_PIN, 0);
	mock_clock_advance(MS);
	b = ask_start(SCHED_PIN, 2);
	/* one is taken before they are seen */
	ck_assert(is_refused(1));
	ck_assert_int_eq(ask_run(SCHED_IO, 3), 0);
	flush = ask_new(SCHED_FLUSH, 1);
	ck_assert(sched_flush(fixture_sched, &flush->req, SCHED_FLUSH_AGAIN, 0));
	sched_put(fixture_sched, 3);
	advance_until(flush);
	sched_flushed(fixture_sched, 1);
	/* in either order */
	for (int i = 0; i < 100 && ask_is_open(a) && ask_is_open(b); i++)
		fixture_advance(10 * MS);
	sched_unpin(fixture_sched, 0);
	sched_unpin(fixture_sched, 2);
	advance_until(a);
	sched_unpin(fixture_sched, 0);
	advance_until(b);
}
END_TEST

/* That could take for ever. */
START_TEST(flush_of_a_busy_die_keeps_no_hold_out)
{
	struct ask *flush;

	fake_fail(FAKE_BIND, 1, -EBUSY, 1);
	flush = flush_now(1);
	support_wait_until(fake_count(FAKE_BIND, 1) == 1);
	fixture_settle();
	ck_assert_int_eq(ask_run(SCHED_PIN, 0), 0);
	/* and outlasts it */
	fixture_advance(60 * NSEC_PER_SEC);
	ck_assert(ask_is_open(flush));
	sched_unpin(fixture_sched, 0);
	ck_assert_int_eq(ask_wait(flush), 0);
	sched_flushed(fixture_sched, 1);
}
END_TEST

START_TEST(flush_at_the_end_is_told)
{
	struct ask *flush;

	ck_assert_int_eq(ask_wait(ask_start(SCHED_IO, 0)), 0);
	flush = flush_start(1);
	ck_assert_int_eq(sched_stop(fixture_sched), 0);
	ck_assert_int_eq(ask_wait(flush), -ENODEV);
	ck_assert(is_refused(2));
	sched_put(fixture_sched, 0);
	sched_free(fixture_sched);
	fixture_sched = NULL;
}
END_TEST

START_TEST(client_alternates_if_its_last_request_was_for_another_die)
{
	ck_assert_int_eq(ask_run(SCHED_IO, 0), 0);
	ck_assert(sched_alternates(fixture_sched, 4711 + 1, 1));
	ck_assert(!sched_alternates(fixture_sched, 4711 + 1, 0));
	ck_assert(!sched_alternates(fixture_sched, 4711 + 2, 1));
	ck_assert(!sched_alternates(fixture_sched, 0, 1));
}
END_TEST

Suite *sched_flush_suite(void)
{
	Suite *suite = suite_create("sched_flush");
	TCase *tcase = tcase_create("flush");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_add_test(tcase, flush_brings_its_die_in);
	tcase_add_test(tcase, flush_of_a_die_that_is_in_or_coming_is_refused);
	tcase_add_test(tcase, flush_of_a_die_that_a_hold_keeps_out_is_refused);
	tcase_add_loop_test(tcase, flush_is_lazy_while_another_die_is_used, 0, 3);
	tcase_add_test(tcase, other_requests_of_the_die_wait_for_the_flush);
	tcase_add_test(
		tcase,
		requests_that_waited_for_a_flush_do_not_start_on_a_suspect_die);
	tcase_add_test(tcase, flush_that_is_parked_again_leaves_no_gap);
	tcase_add_test(tcase,
		       flush_whose_die_does_not_come_in_is_told_and_bars_nobody);
	tcase_add_loop_test(tcase, flush_outlasts_what_passes, 0,
			    ARRAY_SIZE(passing));
	tcase_add_test(tcase, flush_that_its_die_refused_is_put_off);
	tcase_add_loop_test(tcase, hold_begins_when_all_is_flushed, 0, 2);
	tcase_add_test(tcase, holds_that_wait_do_not_starve_the_flush);
	tcase_add_test(tcase, flush_of_a_busy_die_keeps_no_hold_out);
	tcase_add_test(tcase, flush_at_the_end_is_told);
	tcase_add_test(tcase,
		       client_alternates_if_its_last_request_was_for_another_die);
	suite_add_tcase(suite, tcase);
	return suite;
}
