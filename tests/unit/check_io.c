// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine: reads, writes and syncs, one at a time. */
#include <errno.h>
#include <string.h>

#include "io_fixture.h"
#include "suites.h"

#define SIZE 5000

static unsigned char buf[SIZE], want[SIZE];
static struct io_file *f; /* on die 0 */

static void setup(void)
{
	io_fixture_setup();
	f = &fixture_files[0];
	for (size_t i = 0; i < SIZE; i++)
		want[i] = (unsigned char)(i * 7 + i / 256);
	memset(buf, 0, sizeof(buf));
}

static void bring_in(unsigned int die)
{
	ck_assert_int_eq(call_slot(SCHED_ACQUIRE, die), 0);
}

START_TEST(read_of_a_die_that_is_out_swaps_it_in)
{
	memcpy(fake_mem(1) + 12345, want, SIZE);
	ck_assert_int_eq(read_at(&fixture_files[1], 12345, SIZE, buf), SIZE);
	ck_assert_mem_eq(buf, want, SIZE);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 1);
}
END_TEST

START_TEST(read_of_the_die_that_is_in_runs_on_the_callers_thread)
{
	struct call *c;

	bring_in(0);
	memcpy(fake_mem(0), want, SIZE);
	c = call_new(IO_READ, f, 0, SIZE);
	io_submit(&c->io);
	ck_assert_int_eq(c->n_answers, 1);
	ck_assert(pthread_equal(c->thread, pthread_self()));
	ck_assert_uint_eq(c->n_parks, 0);
	ck_assert_mem_eq(c->got, want, SIZE);
}
END_TEST

START_TEST(read_of_the_longest_request_gives_all_of_it)
{
	struct call *c =
		call_new(IO_READ, f, FIXTURE_BYTES - IO_MAX_LEN, IO_MAX_LEN);

	fake_mem(0)[FIXTURE_BYTES - IO_MAX_LEN] = 1;
	fake_mem(0)[FIXTURE_BYTES - 1] = 2;
	ck_assert_int_eq(call_run(c), IO_MAX_LEN);
	ck_assert_int_eq(c->got[0], 1);
	ck_assert_int_eq(c->got[IO_MAX_LEN - 1], 2);
}
END_TEST

START_TEST(file_that_starts_behind_another_counts_from_its_base)
{
	f->base = 10 * MIB;
	f->len = MIB;
	ck_assert_int_eq(write_at(f, 100, SIZE, want), SIZE);
	ck_assert_mem_eq(fake_mem(0) + 10 * MIB + 100, want, SIZE);
	ck_assert_int_eq(fake_mem(0)[100], 0);
	ck_assert_int_eq(read_at(f, 100, SIZE, buf), SIZE);
	ck_assert_mem_eq(buf, want, SIZE);
	ck_assert_int_eq(call_run(call_new(IO_ZERO, f, 100, SIZE)), 0);
	ck_assert_int_eq(fake_mem(0)[10 * MIB + 100], 0);
}
END_TEST

START_TEST(write_changes_its_bytes_and_no_neighbour)
{
	memset(fake_mem(0), 'x', 20000);
	if (_i)
		bring_in(0);
	ck_assert_int_eq(write_at(f, 777, SIZE, want), SIZE);
	ck_assert_mem_eq(fake_mem(0) + 777, want, SIZE);
	ck_assert_int_eq(fake_mem(0)[776], 'x');
	ck_assert_int_eq(fake_mem(0)[777 + SIZE], 'x');
	ck_assert(f->wrote);
}
END_TEST

START_TEST(parked_write_writes_what_was_kept_at_park)
{
	struct call *c = call_new(IO_WRITE, f, 0, SIZE);

	fake_hold(FAKE_BIND);
	memcpy(buf, want, SIZE);
	c->io.data = buf;
	io_submit(&c->io);
	memset(buf, 'z', SIZE);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(call_wait(c), SIZE);
	ck_assert_uint_eq(c->n_parks, 1);
	ck_assert_mem_eq(fake_mem(0), want, SIZE);
}
END_TEST

START_TEST(error_of_park_is_the_answer)
{
	struct call *c = call_new(IO_WRITE, f, 0, SIZE);

	c->io.data = want;
	c->park_error = -ENOMEM;
	ck_assert_int_eq(call_run(c), -ENOMEM);
	ck_assert_int_eq(fake_mem(0)[1], 0);
	ck_assert_uint_eq(fake_count(FAKE_WRITE, 0), 0);
}
END_TEST

START_TEST(write_of_an_o_sync_file_has_reached_the_die_when_answered)
{
	f->sync = _i;
	ck_assert_int_eq(write_at(f, 0, SIZE, want), SIZE);
	ck_assert_uint_eq(fake_count(FAKE_SYNC, 0), _i ? 1 : 0);
}
END_TEST

START_TEST(write_of_an_o_sync_file_whose_sync_fails_returns_eio)
{
	f->sync = true;
	fake_fail(FAKE_SYNC, 0, -EIO, 1);
	ck_assert_int_eq(write_at(f, 0, SIZE, want), -EIO);
}
END_TEST

START_TEST(sync_of_a_die_that_is_out_touches_no_hardware)
{
	ck_assert_int_eq(call_run(call_new(IO_SYNC, f, 0, 0)), 0);
	bring_in(1);
	ck_assert_int_eq(call_run(call_new(IO_SYNC, f, 0, 0)), 0);
	ck_assert_uint_eq(fake_count(FAKE_SYNC, FAKE_ANY_DIE), 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 0);
}
END_TEST

START_TEST(sync_of_the_die_that_is_in_asks_it)
{
	bring_in(0);
	ck_assert_int_eq(call_run(call_new(IO_SYNC, f, 0, 0)), 0);
	ck_assert_uint_eq(fake_count(FAKE_SYNC, 0), 1);
	fake_fail(FAKE_SYNC, 0, -EIO, 1);
	ck_assert_int_eq(call_run(call_new(IO_SYNC, f, 0, 0)), -EIO);
}
END_TEST

START_TEST(sync_during_a_swap_to_its_die_waits_for_it)
{
	struct call *read, *sync = call_new(IO_SYNC, f, 0, 0);

	fake_hold(FAKE_BIND);
	read = call_new(IO_READ, f, 0, 1);
	io_submit(&read->io);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	io_submit(&sync->io);
	ck_assert_int_eq(sync->n_answers, 0);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(call_wait(sync), 0);
	ck_assert_int_eq(call_wait(read), 1);
	ck_assert_uint_eq(fake_count(FAKE_SYNC, 0), 1);
}
END_TEST

/* SYNC last: of a die that is out it never waits */
static const enum io_op all_ops[] = { IO_READ, IO_WRITE, IO_ZERO, IO_COPY,
				      IO_SYNC };

static struct call *call_of(enum io_op op)
{
	struct call *c = call_new(op, f, 0, op == IO_SYNC ? 0 : SIZE);

	c->io.data = want;
	c->io.dst = op == IO_COPY ? &fixture_files[1] : NULL;
	return c;
}

START_TEST(file_opened_before_a_reset_is_stale)
{
	ck_assert_int_eq(call_slot(SCHED_RESET, 0), 0);
	ck_assert(io_is_stale(&fixture_eng, f));
	ck_assert_int_eq(call_run(call_of(all_ops[_i])), -ESTALE);
	ck_assert_int_eq(fake_mem(0)[0], FAKE_SCRAP);
	/* one opened now is not */
	file_open(f, 0);
	ck_assert(!io_is_stale(&fixture_eng, f));
	ck_assert_int_ge(call_run(call_of(all_ops[_i])), 0);
}
END_TEST

START_TEST(copy_to_a_die_that_was_reset_is_stale)
{
	ck_assert_int_eq(call_slot(SCHED_RESET, 1), 0);
	ck_assert_int_eq(call_run(call_of(IO_COPY)), -ESTALE);
	ck_assert_int_eq(fake_mem(1)[0], FAKE_SCRAP);
}
END_TEST

START_TEST(die_that_was_reset_while_a_request_was_parked_is_stale)
{
	struct call *c = call_of(all_ops[_i]);

	fake_hold(FAKE_BIND);
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	fake_reset(0);
	fake_let_go(FAKE_BIND);
	ck_assert_int_eq(call_wait(c), -ESTALE);
	ck_assert_int_eq(fake_mem(0)[0], FAKE_SCRAP);
}
END_TEST

START_TEST(copy_that_fails_has_the_die_looked_at_before_the_next)
{
	bring_in(0);
	bring_in(0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 2);
	fake_fail(_i ? FAKE_WRITE : FAKE_READ, 0, -EIO, 1);
	ck_assert_int_eq(_i ? write_at(f, 0, SIZE, want)
			    : read_at(f, 0, SIZE, buf),
			 -EIO);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), SIZE);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 3);
}
END_TEST

START_TEST(dead_die_gives_eio_and_no_bytes_while_others_go_on)
{
	struct call *c = call_new(IO_READ, f, 0, SIZE);

	fake_set_alive(0, 0);
	ck_assert_int_eq(call_run(c), -EIO);
	ck_assert_ptr_null(c->got);
	ck_assert_int_eq(write_at(f, 0, SIZE, want), -EIO);
	ck_assert_int_eq(read_at(&fixture_files[1], 0, SIZE, buf), SIZE);
	fake_set_alive(0, 1);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), SIZE);
}
END_TEST

START_TEST(bar1_in_virtual_mode_gives_ebusy)
{
	fake_set_mode(0, BS_MODE_VIRTUAL);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), -EBUSY);
	ck_assert_int_eq(write_at(f, 0, SIZE, want), -EBUSY);
	ck_assert_uint_eq(fake_count(FAKE_READ, 0), 0);
}
END_TEST

START_TEST(acquire_that_fails_is_the_answer)
{
	fake_fail(FAKE_BIND, 0, -EBUSY, 1);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), -EBUSY);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), SIZE);
}
END_TEST

/* Another process took the slot under the copy: it runs again. */
START_TEST(copy_whose_die_was_taken_out_is_done_again)
{
	memcpy(fake_mem(0), want, SIZE);
	bring_in(0);
	fake_fail(FAKE_READ, 0, -EAGAIN, IO_MAX_TAKEN);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), SIZE);
	ck_assert_mem_eq(buf, want, SIZE);
	fake_fail(FAKE_READ, 0, -EAGAIN, IO_MAX_TAKEN + 1);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), -EIO);
}
END_TEST

START_TEST(interrupt_before_submission_is_answered_eintr)
{
	struct call *c = call_of(all_ops[_i]);

	io_interrupt(&c->io);
	ck_assert_int_eq(call_run(c), -EINTR);
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 0);
}
END_TEST

START_TEST(interrupt_while_parked_is_answered_eintr)
{
	struct call *c = call_of(all_ops[_i]);

	fake_hold(FAKE_BIND);
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_BIND) == 1);
	io_interrupt(&c->io);
	ck_assert_int_eq(call_wait(c), -EINTR);
	ck_assert_uint_eq(fake_n_held(FAKE_BIND), 1);
}
END_TEST

START_TEST(hold_of_another_die_gives_etimedout_or_ebusy)
{
	ck_assert_int_eq(call_slot(SCHED_PIN, 1), 0);
	f->nowait = _i;
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), _i ? -EBUSY : -ETIMEDOUT);
	ck_assert_int_eq(read_at(&fixture_files[1], 0, SIZE, buf), SIZE);
	ck_assert_int_eq(call_slot(SCHED_RELEASE, 1), 0);
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), SIZE);
}
END_TEST

static _Atomic bool is_answering, may_return;

static void answer_and_stay(struct io *io, ssize_t result, const void *data)
{
	struct call *c = container_of(io, struct call, io);

	(void)data;
	is_answering = true;
	while (!may_return)
		support_nap();
	c->result = result;
	c->n_answers++;
}

/* A client that reads its answer late holds up no swap. */
START_TEST(answer_comes_with_the_die_given_back)
{
	struct call *c = call_new(IO_READ, f, 0, SIZE);

	is_answering = may_return = false;
	c->io.answer = answer_and_stay;
	io_submit(&c->io);
	support_wait_until(is_answering);
	ck_assert_int_eq(call_slot(SCHED_RELEASE, 0), 0);
	may_return = true;
	ck_assert_int_eq(call_wait(c), SIZE);
}
END_TEST

/* As a daemon that is told to stop under load does it: threads that copy are
 * ended after the scheduler's. */
START_TEST(copy_that_runs_while_the_scheduler_stops_is_finished)
{
	struct call *c = call_new(IO_READ, f, 0, SIZE);

	memcpy(fake_mem(0), want, SIZE);
	fake_hold(FAKE_READ);
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_READ) == 1);
	io_fixture_stop();
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(c), SIZE);
	ck_assert_mem_eq(c->got, want, SIZE);
}
END_TEST

START_TEST(step_that_ends_after_the_stop_is_the_last_one)
{
	struct call *c = call_new(IO_ZERO, f, 0, 2 * IO_ZERO_STEP);

	fake_hold(FAKE_ZERO);
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	io_fixture_stop();
	fake_let_go(FAKE_ZERO);
	ck_assert_int_eq(call_wait(c), -ENODEV);
	ck_assert_uint_eq(fake_count(FAKE_ZERO, 0), 1);
}
END_TEST

START_TEST(request_after_the_stop_is_answered_enodev)
{
	io_fixture_stop();
	ck_assert_int_eq(read_at(f, 0, SIZE, buf), -ENODEV);
}
END_TEST

Suite *io_suite(void)
{
	Suite *suite = suite_create("io");
	TCase *transfer = tcase_create("transfer");
	TCase *sync = tcase_create("sync");
	TCase *fault = tcase_create("fault");
	TCase *wait = tcase_create("wait");
	const int n_ops = ARRAY_SIZE(all_ops);

	tcase_add_checked_fixture(transfer, setup, io_fixture_teardown);
	tcase_add_test(transfer, read_of_a_die_that_is_out_swaps_it_in);
	tcase_add_test(transfer,
		       read_of_the_die_that_is_in_runs_on_the_callers_thread);
	tcase_add_test(transfer, read_of_the_longest_request_gives_all_of_it);
	tcase_add_test(transfer,
		       file_that_starts_behind_another_counts_from_its_base);
	tcase_add_loop_test(transfer, write_changes_its_bytes_and_no_neighbour,
			    0, 2);
	tcase_add_test(transfer, parked_write_writes_what_was_kept_at_park);
	tcase_add_test(transfer, error_of_park_is_the_answer);
	tcase_add_test(transfer, answer_comes_with_the_die_given_back);
	tcase_add_test(transfer,
		       copy_that_runs_while_the_scheduler_stops_is_finished);
	tcase_add_test(transfer, step_that_ends_after_the_stop_is_the_last_one);
	tcase_add_test(transfer, request_after_the_stop_is_answered_enodev);
	suite_add_tcase(suite, transfer);

	tcase_add_checked_fixture(sync, setup, io_fixture_teardown);
	tcase_add_loop_test(
		sync, write_of_an_o_sync_file_has_reached_the_die_when_answered,
		0, 2);
	tcase_add_test(sync,
		       write_of_an_o_sync_file_whose_sync_fails_returns_eio);
	tcase_add_test(sync, sync_of_a_die_that_is_out_touches_no_hardware);
	tcase_add_test(sync, sync_of_the_die_that_is_in_asks_it);
	tcase_add_test(sync, sync_during_a_swap_to_its_die_waits_for_it);
	suite_add_tcase(suite, sync);

	tcase_add_checked_fixture(fault, setup, io_fixture_teardown);
	tcase_add_loop_test(fault, file_opened_before_a_reset_is_stale, 0, n_ops);
	tcase_add_test(fault, copy_to_a_die_that_was_reset_is_stale);
	tcase_add_loop_test(
		fault, die_that_was_reset_while_a_request_was_parked_is_stale,
		0, n_ops - 1);
	tcase_add_loop_test(fault,
			    copy_that_fails_has_the_die_looked_at_before_the_next,
			    0, 2);
	tcase_add_test(fault, dead_die_gives_eio_and_no_bytes_while_others_go_on);
	tcase_add_test(fault, bar1_in_virtual_mode_gives_ebusy);
	tcase_add_test(fault, acquire_that_fails_is_the_answer);
	tcase_add_test(fault, copy_whose_die_was_taken_out_is_done_again);
	suite_add_tcase(suite, fault);

	tcase_add_checked_fixture(wait, setup, io_fixture_teardown);
	tcase_add_loop_test(wait, interrupt_before_submission_is_answered_eintr,
			    0, n_ops);
	tcase_add_loop_test(wait, interrupt_while_parked_is_answered_eintr, 0,
			    n_ops - 1);
	tcase_add_loop_test(wait, hold_of_another_die_gives_etimedout_or_ebusy,
			    0, 2);
	suite_add_tcase(suite, wait);
	return suite;
}
