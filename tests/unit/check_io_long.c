// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine: what is done in steps (clearing, copies between dies), and what
 * is answered from memory. */
#include <errno.h>
#include <string.h>

#include "io_fixture.h"
#include "suites.h"

static struct io_file *f; /* on die 0 */

static void setup(void)
{
	io_fixture_setup();
	f = &fixture_files[0];
}

/* Are all of these bytes @value? */
static bool is_all(const unsigned char *p, size_t len, unsigned char value)
{
	return !len || (p[0] == value && !memcmp(p, p + 1, len - 1));
}

START_TEST(zero_clears_its_range_in_steps_and_nothing_else)
{
	const uint64_t off = 3, len = 2 * IO_ZERO_STEP + 5;
	unsigned char *mem = fake_mem(0);

	memset(mem, 'x', FIXTURE_BYTES);
	ck_assert_int_eq(call_run(call_new(IO_ZERO, f, off, len)), 0);
	ck_assert(is_all(mem, off, 'x'));
	ck_assert(is_all(mem + off, len, 0));
	ck_assert(is_all(mem + off + len, FIXTURE_BYTES - off - len, 'x'));
	ck_assert_uint_eq(fake_count(FAKE_ZERO, 0), 3);
	ck_assert(f->wrote);
}
END_TEST

/* The ctl command has no open vram file. */
START_TEST(zero_without_a_file_clears_the_die_it_names)
{
	struct call *c = call_new(IO_ZERO, NULL, 0, 100);

	memset(fake_mem(2), 'x', 200);
	c->io.die = 2;
	ck_assert_int_eq(call_run(c), 0);
	ck_assert(is_all(fake_mem(2), 100, 0));
	ck_assert(is_all(fake_mem(2) + 100, 100, 'x'));
}
END_TEST

/* A call in a thread of its own: the submitter's thread does the work. */
static void *submit(void *arg)
{
	io_submit(arg);
	return NULL;
}

static pthread_t submit_aside(struct call *c)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, submit, &c->io), 0);
	return thread;
}

/* Does die 0 start no new request because another one waits? */
static bool is_draining(void)
{
	struct sched_req req = { .op = SCHED_IO, .die = 0 };
	int ret = sched_try(fixture_eng.sched, &req);

	if (!ret)
		sched_put(fixture_eng.sched, 0);
	return ret == -EAGAIN;
}

START_TEST(zero_shows_its_progress_while_it_runs)
{
	struct call *c = call_new(IO_ZERO, f, 0, IO_ZERO_STEP + 7);
	pthread_t thread;

	fake_hold(FAKE_ZERO);
	thread = submit_aside(c);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	fake_let_one_go(FAKE_ZERO);
	support_wait_until(fake_count(FAKE_ZERO, 0) == 2);
	ck_assert_uint_eq(fixture_eng.zero_done[0], IO_ZERO_STEP);
	ck_assert_uint_eq(fixture_eng.zero_total[0], IO_ZERO_STEP + 7);
	fake_let_go(FAKE_ZERO);
	pthread_join(thread, NULL);
	ck_assert_int_eq(call_wait(c), 0);
	ck_assert_uint_eq(fixture_eng.zero_total[0], 0);
}
END_TEST

START_TEST(zero_gives_up_the_slot_between_steps)
{
	struct call *zero = call_new(IO_ZERO, f, 0, 2 * IO_ZERO_STEP);
	struct call *read = call_new(IO_READ, &fixture_files[1], 0, 1);
	pthread_t thread;

	sched_set_slice(fixture_eng.sched, 1);
	fake_hold(FAKE_ZERO);
	thread = submit_aside(zero);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	io_submit(&read->io);
	support_wait_until(is_draining());
	fake_hold(FAKE_READ);
	fake_let_go(FAKE_ZERO);
	support_wait_until(fake_n_held(FAKE_READ) == 1);
	ck_assert_int_eq(zero->n_answers, 0);
	ck_assert_uint_eq(fake_count(FAKE_ZERO, 0), 1);
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(read), 1);
	ck_assert_int_eq(call_wait(zero), 0);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(zero_interrupted_between_steps_stops_there)
{
	struct call *c = call_new(IO_ZERO, f, 0, 2 * IO_ZERO_STEP);
	pthread_t thread;

	memset(fake_mem(0), 'x', 2 * IO_ZERO_STEP);
	fake_hold(FAKE_ZERO);
	thread = submit_aside(c);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	io_interrupt(&c->io);
	fake_let_go(FAKE_ZERO);
	ck_assert_int_eq(call_wait(c), -EINTR);
	pthread_join(thread, NULL);
	ck_assert(is_all(fake_mem(0), IO_ZERO_STEP, 0));
	ck_assert(is_all(fake_mem(0) + IO_ZERO_STEP, IO_ZERO_STEP, 'x'));
	ck_assert_uint_eq(fixture_eng.zero_total[0], 0);
}
END_TEST

/* Before them came as many as there are threads of any kind. */
START_TEST(zeroes_hold_up_neither_their_callers_nor_readers)
{
	struct call *zeroes[8];

	fake_hold(FAKE_ZERO);
	for (size_t i = 0; i < ARRAY_SIZE(zeroes); i++) {
		zeroes[i] = call_new(IO_ZERO, _i ? f : NULL, 0, 2 * MIB);
		io_submit(&zeroes[i]->io);
	}
	support_wait_until(fake_n_held(FAKE_ZERO));
	ck_assert_int_eq(call_run(call_new(IO_READ, f, 0, 4096)), 4096);
	/* one at a time: a reader of another die waits for one step, not 8 */
	ck_assert_uint_eq(fake_n_held(FAKE_ZERO), 1);
	fake_let_go(FAKE_ZERO);
	for (size_t i = 0; i < ARRAY_SIZE(zeroes); i++) {
		ck_assert_int_eq(call_wait(zeroes[i]), 0);
		ck_assert(!pthread_equal(zeroes[i]->thread, pthread_self()));
	}
}
END_TEST

START_TEST(zeroes_of_one_die_take_turns)
{
	struct call *a = call_new(IO_ZERO, f, 0, IO_ZERO_STEP + MIB);
	struct call *b =
		call_new(IO_ZERO, f, IO_ZERO_STEP + 2 * MIB, IO_ZERO_STEP + MIB);
	unsigned char *mem = fake_mem(0);

	mem[0] = mem[a->io.len - 1] = mem[b->io.off] = 'x';
	fake_hold(FAKE_ZERO);
	io_submit(&a->io);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	io_submit(&b->io);
	fake_let_one_go(FAKE_ZERO);
	support_wait_until(fake_count(FAKE_ZERO, 0) == 2);
	fake_let_one_go(FAKE_ZERO);
	support_wait_until(fake_count(FAKE_ZERO, 0) == 3);
	ck_assert_int_eq(mem[0], 0);
	ck_assert_int_eq(mem[a->io.len - 1], 'x');
	ck_assert_int_eq(mem[b->io.off], 0);
	fake_let_go(FAKE_ZERO);
	ck_assert_int_eq(call_wait(a), 0);
	ck_assert_int_eq(call_wait(b), 0);
}
END_TEST

/* A hole that a client punches has a client that waits for it. */
START_TEST(zero_command_ends_with_the_daemon_and_a_punch_goes_on)
{
	struct call *zero = call_new(IO_ZERO, NULL, 0, 2 * IO_ZERO_STEP);
	struct call *other = call_new(IO_ZERO, NULL, 0, 2 * IO_ZERO_STEP);
	struct call *punch = call_new(IO_ZERO, f, 0, IO_ZERO_STEP + 1);

	fake_hold(FAKE_ZERO);
	io_submit(&zero->io);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	io_submit(&other->io);
	io_submit(&punch->io);
	sched_end_holds(fixture_eng.sched, NSEC_PER_SEC);
	ck_assert_int_eq(call_wait(other), -ENODEV);
	fake_let_go(FAKE_ZERO);
	ck_assert_int_eq(call_wait(zero), -ENODEV);
	ck_assert_int_eq(call_wait(punch), 0);
	ck_assert_int_eq(call_run(call_new(IO_ZERO, NULL, 0, 1)), -ENODEV);
}
END_TEST

START_TEST(zero_that_fails_shows_no_progress_any_more)
{
	fake_fail(FAKE_ZERO, 0, -EIO, 1);
	ck_assert_int_eq(call_run(call_new(IO_ZERO, f, 0, 2 * IO_ZERO_STEP)),
			 -EIO);
	ck_assert_uint_eq(fixture_eng.zero_total[0], 0);
}
END_TEST

/* "a write has reached the die when it is answered" */
START_TEST(zero_of_an_o_sync_file_has_reached_the_die_when_answered)
{
	f->sync = true;
	ck_assert_int_eq(call_run(call_new(IO_ZERO, f, 0, 100)), 0);
	ck_assert_uint_ge(fake_count(FAKE_SYNC, 0), 1);
}
END_TEST

static struct call *copy_new(struct io_file *from, uint64_t off,
			     struct io_file *to, uint64_t dst_off, uint64_t len)
{
	struct call *c = call_new(IO_COPY, from, off, len);

	c->io.dst = to;
	c->io.dst_off = dst_off;
	return c;
}

static void fill(unsigned int die, uint64_t seed)
{
	unsigned char *mem = fake_mem(die);

	for (size_t i = 0; i < FIXTURE_BYTES; i += 8) {
		uint64_t v = support_random(&seed, UINT64_MAX);

		memcpy(mem + i, &v, sizeof(v));
	}
}

START_TEST(copy_between_dies_moves_the_bytes_in_two_swaps)
{
	const uint64_t len = 3 * MIB + 17;
	struct call *c = copy_new(f, 5, &fixture_files[1], 1001, len);

	fill(0, 1);
	ck_assert_int_eq(call_run(c), (ssize_t)len);
	ck_assert_mem_eq(fake_mem(1) + 1001, fake_mem(0) + 5, len);
	ck_assert(is_all(fake_mem(1), 1001, 0));
	ck_assert(is_all(fake_mem(1) + 1001 + len, 4096, 0));
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 2);
	ck_assert(fixture_files[1].wrote);
	ck_assert(!f->wrote);
}
END_TEST

START_TEST(copy_inside_one_die_moves_the_bytes)
{
	struct call *c = copy_new(f, 0, f, 20 * MIB, 2 * MIB + 1);

	fill(0, 2);
	ck_assert_int_eq(call_run(c), 2 * MIB + 1);
	ck_assert_mem_eq(fake_mem(0) + 20 * MIB, fake_mem(0), 2 * MIB + 1);
}
END_TEST

START_TEST(copy_of_more_than_a_stage_is_answered_short)
{
	struct call *c = copy_new(f, 0, &fixture_files[1], 0, FIXTURE_BYTES);

	ck_assert_uint_lt(IO_COPY_MAX, FIXTURE_BYTES);
	ck_assert_uint_le(IO_COPY_MAX, 64 * MIB);
	fill(0, 3);
	ck_assert_int_eq(call_run(c), IO_COPY_MAX);
	ck_assert_mem_eq(fake_mem(1), fake_mem(0), IO_COPY_MAX);
	ck_assert(is_all(fake_mem(1) + IO_COPY_MAX, FIXTURE_BYTES - IO_COPY_MAX,
			 0));
	ck_assert_uint_eq(fake_count(FAKE_BIND, FAKE_ANY_DIE), 2);
}
END_TEST

/* Memory stays flat whatever is copied. */
START_TEST(copy_beside_another_copy_takes_a_small_stage)
{
	struct call *big = copy_new(f, 0, &fixture_files[1], 0, FIXTURE_BYTES);
	struct call *small = copy_new(f, 0, &fixture_files[2], 0, FIXTURE_BYTES);

	/* the small one reads while the big one waits for the other die */
	sched_set_slice(fixture_eng.sched, 20000);
	fake_hold(FAKE_READ);
	io_submit(&big->io);
	support_wait_until(fake_n_held(FAKE_READ) == 1);
	io_submit(&small->io);
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(big), IO_COPY_MAX);
	ck_assert_int_eq(call_wait(small), IO_COPY_MIN);
}
END_TEST

START_TEST(copy_interrupted_while_it_reads_has_written_nothing)
{
	struct call *c = copy_new(f, 0, &fixture_files[1], 0, 4 * MIB);
	pthread_t thread;

	fake_hold(FAKE_READ);
	thread = submit_aside(c);
	support_wait_until(fake_n_held(FAKE_READ) == 1);
	io_interrupt(&c->io);
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(c), -EINTR);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(fake_count(FAKE_READ, 0), 1);
	ck_assert_uint_eq(fake_count(FAKE_WRITE, 1), 0);
}
END_TEST

START_TEST(copy_interrupted_while_it_writes_returns_the_bytes_done)
{
	struct call *c = copy_new(f, 0, &fixture_files[1], 0, 4 * MIB);
	pthread_t thread;

	fill(0, 4);
	fake_hold(FAKE_WRITE);
	thread = submit_aside(c);
	support_wait_until(fake_n_held(FAKE_WRITE) == 1);
	io_interrupt(&c->io);
	fake_let_go(FAKE_WRITE);
	ck_assert_int_eq(call_wait(c), MIB);
	pthread_join(thread, NULL);
	ck_assert_mem_eq(fake_mem(1), fake_mem(0), MIB);
	ck_assert(is_all(fake_mem(1) + MIB, 3 * MIB, 0));
}
END_TEST

START_TEST(copy_to_a_die_that_fails_says_so_and_looks_at_that_die)
{
	struct call *c = copy_new(f, 0, &fixture_files[1], 0, MIB);
	unsigned int binds;

	fake_fail(_i ? FAKE_WRITE : FAKE_READ, (unsigned int)_i, -EIO, 1);
	ck_assert_int_eq(call_run(c), -EIO);
	binds = fake_count(FAKE_BIND, _i);
	ck_assert_int_eq(call_run(call_new(IO_READ, &fixture_files[_i], 0, 1)),
			 1);
	ck_assert_uint_eq(fake_count(FAKE_BIND, _i), binds + 1);
}
END_TEST

START_TEST(copy_to_an_o_sync_file_has_reached_the_die_when_answered)
{
	fixture_files[1].sync = true;
	ck_assert_int_eq(call_run(copy_new(f, 0, &fixture_files[1], 0, 100)),
			 100);
	ck_assert_uint_ge(fake_count(FAKE_SYNC, 1), 1);
}
END_TEST

/* dd from one die to the other: the reads of die 0 come to be answered from
 * memory, and die 0 is swapped in far less than once a block. */
static unsigned int alternate(unsigned int n_blocks, uint64_t block)
{
	for (unsigned int i = 0; i < n_blocks; i++) {
		struct call *c = call_new(IO_READ, f, i * block, block);

		ck_assert_int_eq(call_run(c), (ssize_t)block);
		ck_assert_mem_eq(c->got, fake_mem(0) + i * block, block);
		ck_assert_int_eq(write_at(&fixture_files[1], i * block, block,
					  c->got),
				 (ssize_t)block);
	}
	return fake_count(FAKE_BIND, 0);
}

START_TEST(reader_that_alternates_between_dies_reads_ahead)
{
	uint64_t start = now_ns();
	unsigned int n_swaps;

	fill(0, 5);
	n_swaps = alternate(14, MIB);
	/* it is soon thrown away, the more often the longer this takes */
	ck_assert_uint_le(n_swaps, 4 + (now_ns() - start) / READAHEAD_KEEP_NS);
	/* the last of it was written behind */
	ck_assert_uint_eq(io_settle(&fixture_eng, 20 * NSEC_PER_SEC), 0);
	ck_assert_mem_eq(fake_mem(1), fake_mem(0), 14 * MIB);
}
END_TEST

START_TEST(reader_of_an_o_sync_file_reads_the_die_each_time)
{
	fill(0, 6);
	f->sync = true;
	fixture_files[1].sync = true; /* nor is anything written behind */
	ck_assert_uint_eq(alternate(14, MIB), 14);
}
END_TEST

/* A flag of the request: fcntl(2) and pwritev2(2) change it as they like. */
START_TEST(direct_read_is_neither_from_memory_nor_into_it)
{
	struct call *c;

	fill(0, 6);
	for (unsigned int i = 0; i < 8; i++) {
		c = call_new(IO_READ, f, i * MIB, MIB);
		c->io.direct = true;
		ck_assert_int_eq(call_run(c), MIB);
		ck_assert_int_eq(read_at(&fixture_files[1], 0, 1, c->got), 1);
	}
	ck_assert_uint_eq(fake_count(FAKE_BIND, 0), 8);
	fill(0, 9);
	alternate(4, MIB);
	fake_mem(0)[4 * MIB] = 0x5a;
	c = call_new(IO_READ, f, 4 * MIB, 1);
	c->io.direct = true;
	ck_assert_int_eq(call_run(c), 1);
	ck_assert_int_eq(c->got[0], 0x5a);
}
END_TEST

START_TEST(what_was_read_ahead_is_forgotten_when_others_have_had_the_die)
{
	struct call *c;

	do { /* on a slow machine it has grown old before it is used */
		fill(0, 7);
		alternate(4, MIB);
		fake_mem(0)[5 * MIB] = 0x5a;
		fake_acquire_elsewhere(1);
		c = call_new(IO_READ, f, 4 * MIB, 1);
		ck_assert_int_eq(call_run(c), 1);
	} while (!f->ra.buf);
	fake_acquire_elsewhere(0);
	c = call_new(IO_READ, f, 5 * MIB, 1);
	ck_assert_int_eq(call_run(c), 1);
	ck_assert_int_eq(c->got[0], 0x5a);
}
END_TEST

/* Whatever changes the die through the mount is seen by the next read. */
START_TEST(what_was_read_ahead_is_forgotten_at_a_change)
{
	struct io_file other;
	struct call *c;
	unsigned char byte = 0x5a;

	fill(0, 7);
	file_open(&other, 0);
	alternate(4, MIB);
	if (_i == 0)
		ck_assert_int_eq(write_at(&other, 5 * MIB, 1, &byte), 1);
	else if (_i == 1)
		ck_assert_int_eq(call_run(call_new(IO_ZERO, &other, 5 * MIB, 1)),
				 0);
	else
		ck_assert_int_eq(call_run(copy_new(&fixture_files[2], 0, &other,
						   5 * MIB, 1)),
				 1);
	c = call_new(IO_READ, f, 5 * MIB, 1);
	ck_assert_int_eq(call_run(c), 1);
	ck_assert_int_eq(c->got[0], _i == 0 ? byte : 0);
	readahead_free(&other.ra, &fixture_eng.ra);
}
END_TEST

START_TEST(what_was_read_ahead_of_a_die_that_was_reset_is_stale)
{
	fill(0, 8);
	alternate(4, MIB);
	ck_assert_int_eq(call_slot(SCHED_RESET, 0), 0);
	ck_assert_int_eq(call_run(call_new(IO_READ, f, 4 * MIB, 1)), -ESTALE);
}
END_TEST

Suite *io_long_suite(void)
{
	Suite *suite = suite_create("io_long");
	TCase *zero = tcase_create("zero");
	TCase *copy = tcase_create("copy");
	TCase *ahead = tcase_create("ahead");

	tcase_add_checked_fixture(zero, setup, io_fixture_teardown);
	tcase_set_timeout(zero, 30);
	tcase_add_test(zero, zero_clears_its_range_in_steps_and_nothing_else);
	tcase_add_test(zero, zero_without_a_file_clears_the_die_it_names);
	tcase_add_test(zero, zero_shows_its_progress_while_it_runs);
	tcase_add_test(zero, zero_gives_up_the_slot_between_steps);
	tcase_add_test(zero, zero_interrupted_between_steps_stops_there);
	tcase_add_loop_test(
		zero, zeroes_hold_up_neither_their_callers_nor_readers, 0, 2);
	tcase_add_test(zero, zeroes_of_one_die_take_turns);
	tcase_add_test(zero,
		       zero_command_ends_with_the_daemon_and_a_punch_goes_on);
	tcase_add_test(zero, zero_that_fails_shows_no_progress_any_more);
	tcase_add_test(zero,
		       zero_of_an_o_sync_file_has_reached_the_die_when_answered);
	suite_add_tcase(suite, zero);

	tcase_add_checked_fixture(copy, setup, io_fixture_teardown);
	tcase_set_timeout(copy, 30);
	tcase_add_test(copy, copy_between_dies_moves_the_bytes_in_two_swaps);
	tcase_add_test(copy, copy_inside_one_die_moves_the_bytes);
	tcase_add_test(copy, copy_of_more_than_a_stage_is_answered_short);
	tcase_add_test(copy, copy_beside_another_copy_takes_a_small_stage);
	tcase_add_test(copy, copy_interrupted_while_it_reads_has_written_nothing);
	tcase_add_test(copy,
		       copy_interrupted_while_it_writes_returns_the_bytes_done);
	tcase_add_loop_test(
		copy, copy_to_a_die_that_fails_says_so_and_looks_at_that_die, 0,
		2);
	tcase_add_test(copy,
		       copy_to_an_o_sync_file_has_reached_the_die_when_answered);
	suite_add_tcase(suite, copy);

	tcase_add_checked_fixture(ahead, setup, io_fixture_teardown);
	tcase_set_timeout(ahead, 30);
	tcase_add_test(ahead, reader_that_alternates_between_dies_reads_ahead);
	tcase_add_test(ahead, reader_of_an_o_sync_file_reads_the_die_each_time);
	tcase_add_test(ahead, direct_read_is_neither_from_memory_nor_into_it);
	tcase_add_test(
		ahead,
		what_was_read_ahead_is_forgotten_when_others_have_had_the_die);
	tcase_add_loop_test(ahead, what_was_read_ahead_is_forgotten_at_a_change,
			    0, 3);
	tcase_add_test(ahead,
		       what_was_read_ahead_of_a_die_that_was_reset_is_stale);
	suite_add_tcase(suite, ahead);
	return suite;
}
