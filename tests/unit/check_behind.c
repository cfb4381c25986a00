// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing behind: what is answered before its die is in, and what waits. */
#include <errno.h>
#include <string.h>

#include "io_fixture.h"
#include "suites.h"

#define BLOCK  (64 * KIB)
#define CLIENT 4711
#define OTHER  4712

static unsigned char data[MIB];
static struct io_file *f; /* on die 1, which is out */

static void fill(unsigned char first)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(first + i + i / 256);
}

static struct call *call_of(pid_t pid, enum io_op op, struct io_file *file,
			    uint64_t off, uint64_t len)
{
	struct call *c = call_new(op, file, off, len);

	c->io.data = op == IO_WRITE ? data : NULL;
	c->io.req.pid = pid;
	io_submit(&c->io);
	return c;
}

/* CLIENT has just used die 0, and no die comes in until let_in(). */
static void setup(void)
{
	io_fixture_setup();
	f = &fixture_files[1];
	fill(3);
	ck_assert_int_eq(
		call_wait(call_of(CLIENT, IO_READ, &fixture_files[0], 0, BLOCK)),
		BLOCK);
	fake_hold(FAKE_BIND);
}

static void let_in(void)
{
	fake_let_go(FAKE_BIND);
}

static void write_one(uint64_t off, uint64_t len)
{
	struct call *c = call_of(CLIENT, IO_WRITE, f, off, len);

	/* answered in the call, nothing swapped */
	ck_assert_int_eq(c->n_answers, 1);
	ck_assert_int_eq(c->result, (ssize_t)len);
	ck_assert_uint_eq(c->n_parks, 0);
}

static void settle(void)
{
	io_end(&fixture_eng);
	ck_assert_uint_eq(io_settle(&fixture_eng, 20 * NSEC_PER_SEC), 0);
}

/* Die 0 is in and copies until fake_let_go(FAKE_READ). */
static struct call *keep_die_0_busy(void)
{
	struct call *c;

	let_in();
	sched_set_slice(fixture_eng.sched, 20000);
	ck_assert_int_eq(call_slot(SCHED_RELEASE, 0), 0);
	fake_hold(FAKE_READ);
	c = call_of(CLIENT, IO_READ, &fixture_files[0], 0, BLOCK);
	support_wait_until(fake_n_held(FAKE_READ));
	return c;
}

START_TEST(client_that_alternates_is_answered_before_the_swap)
{
	for (uint64_t i = 0; i < 5; i++)
		write_one(i * BLOCK, BLOCK);
	ck_assert_uint_eq(fake_mem(1)[0], 0);
	let_in();
	settle();
	for (uint64_t i = 0; i < 5; i++)
		ck_assert_mem_eq(fake_mem(1) + i * BLOCK, data, BLOCK);
	ck_assert_uint_eq(fake_mem(1)[5 * BLOCK], 0);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), 1);
}
END_TEST

START_TEST(client_of_one_die_waits_for_it_twice)
{
	struct call *c;

	for (uint64_t i = 0; i < 2; i++) {
		fake_hold(FAKE_BIND);
		c = call_of(OTHER, IO_WRITE, f, i * BLOCK, BLOCK);
		support_nap();
		ck_assert_int_eq(c->n_answers, 0);
		let_in();
		ck_assert_int_eq(call_wait(c), BLOCK);
		ck_assert_int_eq(call_slot(SCHED_ACQUIRE, 0), 0);
	}
	fake_hold(FAKE_BIND);
	c = call_of(OTHER, IO_WRITE, f, 2 * BLOCK, BLOCK);
	ck_assert_int_eq(c->n_answers, 1);
	let_in();
	settle();
	ck_assert_mem_eq(fake_mem(1) + 2 * BLOCK, data, BLOCK);
}
END_TEST

/* One after the other, and none that may not wait behind an answer. */
START_TEST(write_waits_that_does_not_follow_the_last_one)
{
	struct call *c;

	if (_i)
		write_one(0, BLOCK);
	c = call_of(CLIENT, IO_WRITE, f, 2 * BLOCK, BLOCK);
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), BLOCK);
	/* what was written behind came first */
	if (_i)
		ck_assert_mem_eq(fake_mem(1), data, BLOCK);
}
END_TEST

START_TEST(synchronous_write_waits_whatever_its_file_was_opened_with)
{
	struct call *c;

	f->sync = _i;
	c = call_new(IO_WRITE, f, 0, BLOCK);
	c->io.req.pid = CLIENT;
	c->io.data = data;
	c->io.sync = true;
	io_submit(&c->io);
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), BLOCK);
}
END_TEST

/* Any file of the die, any client; also one that came first, for its answer
 * comes later. */
START_TEST(reader_sees_what_was_written_behind)
{
	struct io_file other;
	struct call *c = NULL;

	keep_die_0_busy();
	file_open(&other, 1);
	if (_i)
		c = call_of(OTHER, IO_READ, &other, 0, BLOCK);
	write_one(0, BLOCK);
	if (!_i)
		c = call_of(OTHER, IO_READ, &other, 0, BLOCK);
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(c), BLOCK);
	ck_assert_mem_eq(c->got, data, BLOCK);
	readahead_free(&other.ra, &fixture_eng.ra);
}
END_TEST

START_TEST(what_was_read_ahead_is_forgotten)
{
	struct io_file reader;
	struct call *c;

	file_open(&reader, 1);
	let_in();
	/* two waits, then it reads ahead */
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_int_eq(read_at(&reader, i * BLOCK, BLOCK, data), BLOCK);
		c = call_of(CLIENT, IO_READ, &fixture_files[0], 0, BLOCK);
		call_wait(c);
		ck_assert_int_eq(call_slot(SCHED_ACQUIRE, 0), 0);
	}
	fake_hold(FAKE_BIND);
	fill(9);
	f->generation = backend_generation(fixture_eng.be, 1);
	f->behind.next = 3 * BLOCK;
	write_one(3 * BLOCK, BLOCK);
	let_in();
	c = call_of(OTHER, IO_READ, &reader, 3 * BLOCK, BLOCK);
	ck_assert_int_eq(call_wait(c), BLOCK);
	ck_assert_mem_eq(c->got, data, BLOCK);
	readahead_free(&reader.ra, &fixture_eng.ra);
}
END_TEST

START_TEST(sync_waits_for_what_was_written_behind)
{
	struct call *c;

	write_one(0, BLOCK);
	c = call_of(CLIENT, IO_SYNC, f, 0, 0);
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), 0);
	ck_assert_mem_eq(fake_mem(1), data, BLOCK);
	ck_assert_uint_eq(fake_count(FAKE_SYNC, 1), 1);
}
END_TEST

START_TEST(write_waits_when_all_memory_is_in_use)
{
	uint64_t room = BEHIND_CHUNKS * BEHIND_CHUNK;
	struct call *c;

	for (uint64_t off = 0; off < room; off += sizeof(data))
		write_one(off, sizeof(data));
	c = call_of(CLIENT, IO_WRITE, f, room, sizeof(data));
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), sizeof(data));
	for (uint64_t off = 0; off <= room; off += sizeof(data))
		ck_assert_mem_eq(fake_mem(1) + off, data, sizeof(data));
}
END_TEST

START_TEST(dies_share_the_memory)
{
	struct io_file *g = &fixture_files[2];
	uint64_t room = BEHIND_CHUNKS * BEHIND_CHUNK;
	struct call *c;

	for (uint64_t off = 0; off < room / 2; off += sizeof(data)) {
		write_one(off, sizeof(data));
		c = call_of(CLIENT, IO_WRITE, g, off, sizeof(data));
		ck_assert_int_eq(c->n_answers, 1);
	}
	c = call_of(CLIENT, IO_WRITE, g, room / 2, sizeof(data));
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), sizeof(data));
	settle();
	for (uint64_t off = 0; off < room / 2; off += sizeof(data)) {
		ck_assert_mem_eq(fake_mem(1) + off, data, sizeof(data));
		ck_assert_mem_eq(fake_mem(2) + off, data, sizeof(data));
	}
}
END_TEST

/* The die cannot be put in, or does not take the bytes: the next write or sync
 * of a file says so once, wherever the die is by then. */
START_TEST(write_that_fails_later_is_an_error_of_the_next_call)
{
	enum io_op op = _i & 2 ? IO_SYNC : IO_WRITE;
	struct call *c;

	fake_fail(_i & 1 ? FAKE_BIND : FAKE_WRITE, 1, -EIO, 1);
	write_one(0, BLOCK);
	let_in();
	settle();
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 1);
	ck_assert_int_eq(call_slot(SCHED_ACQUIRE, _i & 4 ? 1 : 0), 0);
	c = call_of(CLIENT, op, f, BLOCK, op == IO_SYNC ? 0 : BLOCK);
	ck_assert_int_eq(call_wait(c), -EIO);
	c = call_of(CLIENT, op, f, BLOCK, op == IO_SYNC ? 0 : BLOCK);
	ck_assert_int_eq(call_wait(c), op == IO_SYNC ? 0 : BLOCK);
	settle();
}
END_TEST

START_TEST(die_taken_out_under_the_flush_is_written_again)
{
	fake_fail(FAKE_WRITE, 1, -EAGAIN, 2);
	write_one(0, BLOCK);
	let_in();
	settle();
	ck_assert_mem_eq(fake_mem(1), data, BLOCK);
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 0);
}
END_TEST

static const struct {
	enum fake_call call;
	int error;
} passing[] = {
	{ FAKE_WRITE, -EBUSY }, { FAKE_WRITE, -ENOMEM }, { FAKE_BIND, -EBUSY },
	{ FAKE_BIND, -ENOMEM }, { FAKE_BIND, -EINTR },
};

/* A driver was bound for a moment, or memory was short. */
START_TEST(what_passes_loses_nothing)
{
	write_one(0, BLOCK);
	fake_fail(passing[_i].call, 1, passing[_i].error, 1);
	let_in();
	settle();
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 0);
	ck_assert_mem_eq(fake_mem(1), data, BLOCK);
}
END_TEST

START_TEST(reset_takes_with_it_what_waits)
{
	write_one(0, BLOCK);
	fake_reset(1);
	let_in();
	settle();
	ck_assert_uint_eq(fake_mem(1)[0], FAKE_SCRAP);
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 0);
	ck_assert_int_eq(call_wait(call_of(CLIENT, IO_SYNC, f, 0, 0)), -ESTALE);
}
END_TEST

/* Nor is a second one, of a die that fails by then. */
START_TEST(what_can_be_known_to_fail_is_not_answered_before)
{
	struct bs_info info;
	struct call *c;
	uint64_t off = 0;

	if (_i >= 4) {
		write_one(0, BLOCK);
		off = BLOCK;
	}
	switch (_i) {
	case 0:
		fake_set_driver(1, "nvidia");
		break;
	case 1:
		/* it keeps its die in */
		fake_set_driver(0, "nvidia");
		break;
	case 2:
		let_in();
		ck_assert_int_eq(call_slot(SCHED_PIN, 0), 0);
		fake_hold(FAKE_BIND);
		break;
	case 3:
		fake_set_alive(1, 0);
		break;
	default:
		fake_set_driver(1, "nvidia");
		ck_assert_int_eq(backend_info(fixture_eng.be, 1, &info), 0);
		break;
	}
	c = call_of(CLIENT, IO_WRITE, f, off, BLOCK);
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	if (_i == 0 || _i == 2 || _i == 3) {
		let_in();
		ck_assert_int_lt(call_wait(c), 0);
	} else {
		fake_set_driver(_i == 1 ? 0 : 1, "");
		let_in();
		ck_assert_int_eq(call_wait(c), BLOCK);
	}
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 0);
}
END_TEST

static struct call *pin_start(unsigned int die)
{
	struct call *pin = call_new(IO_SLOT, NULL, 0, 0);

	pin->io.die = die;
	pin->io.req.op = SCHED_PIN;
	io_submit(&pin->io);
	return pin;
}

/* Whoever holds a die may close files of others: nothing must wait for that. */
START_TEST(hold_begins_when_all_is_in)
{
	struct call *c = keep_die_0_busy(), *pin;

	write_one(0, BLOCK);
	pin = pin_start(0);
	support_nap();
	ck_assert_int_eq(pin->n_answers, 0);
	fake_let_go(FAKE_READ);
	ck_assert_int_eq(call_wait(c), BLOCK);
	ck_assert_int_eq(call_wait(pin), 0);
	ck_assert_mem_eq(fake_mem(1), data, BLOCK);
	ck_assert_int_eq(call_wait(call_of(CLIENT, IO_SYNC, f, 0, 0)), 0);
	ck_assert_int_eq(fake_bound(), 0);
}
END_TEST

START_TEST(end_of_the_scheduler_is_a_loss_that_is_counted)
{
	keep_die_0_busy();
	write_one(0, BLOCK);
	io_fixture_stop();
	settle();
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 1);
}
END_TEST

START_TEST(settle_says_how_much_still_waits)
{
	write_one(0, BLOCK);
	write_one(BLOCK, BLOCK);
	ck_assert_uint_eq(io_settle(&fixture_eng, 1), 2 * BLOCK);
	let_in();
	settle();
}
END_TEST

/* An order that nobody gave, noticed while the first of eight is copied. */
START_TEST(reset_during_the_flush_ends_it)
{
	struct bs_info info;

	for (uint64_t off = 0; off < 8 * MIB; off += sizeof(data))
		write_one(off, sizeof(data));
	fake_hold(FAKE_WRITE);
	let_in();
	sched_hurry(fixture_eng.sched, 1);
	support_wait_until(fake_n_held(FAKE_WRITE));
	fake_reset(1);
	ck_assert_int_eq(backend_info(fixture_eng.be, 1, &info), 0);
	fake_let_go(FAKE_WRITE);
	settle();
	ck_assert_uint_eq(fake_count(FAKE_WRITE, 1), 1);
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 0);
}
END_TEST

START_TEST(pin_that_waits_at_the_end_loses_nothing)
{
	struct call *c = keep_die_0_busy(), *pin;

	write_one(0, BLOCK);
	pin = pin_start(2);
	sched_end_holds(fixture_eng.sched, NSEC_PER_SEC);
	ck_assert_int_eq(call_wait(pin), -ENODEV);
	ck_assert_int_eq(call_slot(SCHED_PIN, 0), -ENODEV);
	fake_let_go(FAKE_READ);
	call_wait(c);
	settle();
	ck_assert_mem_eq(fake_mem(1), data, BLOCK);
}
END_TEST

START_TEST(nothing_is_taken_once_the_end_began)
{
	struct call *c;

	let_in();
	io_end(&fixture_eng);
	fake_hold(FAKE_BIND);
	c = call_of(CLIENT, IO_WRITE, f, 0, BLOCK);
	support_nap();
	ck_assert_int_eq(c->n_answers, 0);
	let_in();
	ck_assert_int_eq(call_wait(c), BLOCK);
}
END_TEST

static atomic_bool may_work;

static void wait_for_it(struct pool_work *work)
{
	(void)work;
	while (!may_work)
		support_nap();
}

/* Its bytes are as good as lost; those of the next write are not. */
START_TEST(nothing_is_added_to_a_flush_that_failed)
{
	static struct pool_work busy[3]; /* all copy threads */
	struct call *c;

	may_work = false;
	fake_fail(FAKE_BIND, 1, -EIO, 1);
	write_one(0, BLOCK);
	for (int i = 0; i < 3; i++) {
		busy[i].fn = wait_for_it;
		pool_submit(fixture_eng.pool, &busy[i]);
	}
	let_in();
	sched_hurry(fixture_eng.sched, 1);
	support_wait_until(fake_count(FAKE_BIND, 1) == 1);
	support_nap();
	c = call_of(CLIENT, IO_WRITE, f, BLOCK, BLOCK);
	support_nap();
	ck_assert(!c->n_answers);
	may_work = true;
	/* it may be told of the first one already; if not, the next call is */
	if (call_wait(c) != -EIO) {
		ck_assert_int_eq(c->result, BLOCK);
		ck_assert_mem_eq(fake_mem(1) + BLOCK, data, BLOCK);
		settle();
		c = call_of(CLIENT, IO_SYNC, f, 0, 0);
		ck_assert_int_eq(call_wait(c), -EIO);
	}
	settle();
	ck_assert_uint_eq(backend_lost(fixture_eng.be, 1), 1);
}
END_TEST

/* Whoever syncs first takes the mark of the file; the others wait as well. */
START_TEST(every_sync_has_something_to_wait_for)
{
	struct io_engine *eng = &fixture_eng;
	struct io_file other;

	file_open(&other, 1);
	write_one(0, BLOCK);
	ck_assert(io_take_written(eng, f, _i));
	ck_assert(io_take_written(eng, f, _i));
	ck_assert(io_take_written(eng, &other, false));
	/* a file that never wrote is closed without waiting for others */
	ck_assert(!io_take_written(eng, &other, true));
	let_in();
	settle();
	ck_assert(!io_take_written(eng, f, _i));
	ck_assert(!io_take_written(eng, &other, false));
	/* nor is a loss missed that nobody has told yet */
	atomic_fetch_add(&eng->be->dies[1].lost, 1);
	ck_assert(io_take_written(eng, f, false));
	ck_assert(!io_take_written(eng, &other, false));
	readahead_free(&other.ra, &eng->ra);
}
END_TEST

/* The die answers: it need not be looked at again. */
START_TEST(late_error_makes_no_die_suspect)
{
	struct call *c;
	unsigned int binds;

	let_in();
	ck_assert_int_eq(call_slot(SCHED_ACQUIRE, 1), 0);
	atomic_fetch_add(&fixture_eng.be->dies[1].lost, 1);
	binds = fake_count(FAKE_BIND, 1);
	c = call_of(CLIENT, _i ? IO_SYNC : IO_WRITE, f, 0, _i ? 0 : BLOCK);
	ck_assert_int_eq(call_wait(c), -EIO);
	ck_assert_int_eq(call_wait(call_of(CLIENT, IO_WRITE, f, 0, BLOCK)),
			 BLOCK);
	ck_assert_uint_eq(fake_count(FAKE_BIND, 1), binds);
}
END_TEST

Suite *behind_suite(void)
{
	Suite *suite = suite_create("behind");
	TCase *taken = tcase_create("taken");
	TCase *late = tcase_create("late");

	tcase_add_checked_fixture(taken, setup, io_fixture_teardown);
	tcase_set_timeout(taken, 30);
	tcase_add_test(taken, client_that_alternates_is_answered_before_the_swap);
	tcase_add_test(taken, client_of_one_die_waits_for_it_twice);
	tcase_add_loop_test(taken,
			    write_waits_that_does_not_follow_the_last_one, 0, 2);
	tcase_add_loop_test(
		taken,
		synchronous_write_waits_whatever_its_file_was_opened_with, 0, 2);
	tcase_add_test(taken, write_waits_when_all_memory_is_in_use);
	tcase_add_test(taken, dies_share_the_memory);
	tcase_add_loop_test(
		taken, what_can_be_known_to_fail_is_not_answered_before, 0, 5);
	suite_add_tcase(suite, taken);

	tcase_add_checked_fixture(late, setup, io_fixture_teardown);
	tcase_set_timeout(late, 30);
	tcase_add_loop_test(late, reader_sees_what_was_written_behind, 0, 2);
	tcase_add_test(late, what_was_read_ahead_is_forgotten);
	tcase_add_test(late, sync_waits_for_what_was_written_behind);
	tcase_add_loop_test(
		late, write_that_fails_later_is_an_error_of_the_next_call, 0, 8);
	tcase_add_test(late, hold_begins_when_all_is_in);
	tcase_add_test(late, end_of_the_scheduler_is_a_loss_that_is_counted);
	tcase_add_test(late, die_taken_out_under_the_flush_is_written_again);
	tcase_add_loop_test(late, what_passes_loses_nothing, 0,
			    ARRAY_SIZE(passing));
	tcase_add_test(late, reset_takes_with_it_what_waits);
	tcase_add_test(late, settle_says_how_much_still_waits);
	tcase_add_test(late, reset_during_the_flush_ends_it);
	tcase_add_test(late, pin_that_waits_at_the_end_loses_nothing);
	tcase_add_test(late, nothing_is_taken_once_the_end_began);
	tcase_add_test(late, nothing_is_added_to_a_flush_that_failed);
	tcase_add_loop_test(late, every_sync_has_something_to_wait_for, 0, 2);
	tcase_add_loop_test(late, late_error_makes_no_die_suspect, 0, 2);
	suite_add_tcase(suite, late);
	return suite;
}
