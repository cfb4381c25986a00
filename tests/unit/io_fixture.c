// SPDX-License-Identifier: GPL-2.0-or-later
#include "io_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define COPY_THREADS 3
#define LONG_THREADS 2

struct io_engine fixture_eng;
struct io_file fixture_files[FIXTURE_DIES];

static struct backend be;
static struct call calls[FIXTURE_CALLS];
static unsigned int n_calls;
static bool is_stopped;

void io_fixture_stop(void)
{
	ck_assert_int_eq(sched_stop(fixture_eng.sched), 0);
	is_stopped = true;
}

void file_open(struct io_file *f, unsigned int die)
{
	memset(f, 0, sizeof(*f));
	f->die = die;
	f->len = FIXTURE_BYTES;
	f->generation = backend_generation(&be, die);
	readahead_init(&f->ra);
}

void io_fixture_setup(void)
{
	log_init(true, LOG_LEVEL_ERR);
	fake_open(&be, FIXTURE_DIES, FIXTURE_BYTES);
	memset(&fixture_eng, 0, sizeof(fixture_eng));
	memset(calls, 0, sizeof(calls));
	n_calls = 0;
	is_stopped = false;
	fixture_eng.be = &be;
	fixture_eng.wait_ns = 20 * NSEC_PER_MSEC;
	fixture_eng.pool = pool_start(COPY_THREADS);
	ck_assert_ptr_nonnull(fixture_eng.pool);
	fixture_eng.long_pool = pool_start(LONG_THREADS);
	ck_assert_ptr_nonnull(fixture_eng.long_pool);
	ck_assert_int_eq(sched_start(&fixture_eng.sched, &be, NULL, NULL), 0);
	io_start(&fixture_eng);
	for (unsigned int die = 0; die < FIXTURE_DIES; die++)
		file_open(&fixture_files[die], die);
}

void calls_forget(void)
{
	for (unsigned int i = 0; i < n_calls; i++) {
		call_wait(&calls[i]);
		free(calls[i].got);
		free(calls[i].kept);
	}
	memset(calls, 0, sizeof(calls));
	n_calls = 0;
}

void io_fixture_teardown(void)
{
	for (unsigned int call = 0; call < FAKE_N_CALLS; call++)
		fake_let_go(call);
	for (unsigned int i = 0; i < n_calls; i++)
		call_wait(&calls[i]);
	if (!is_stopped)
		io_fixture_stop();
	pool_stop(fixture_eng.long_pool);
	pool_stop(fixture_eng.pool);
	sched_free(fixture_eng.sched);
	for (unsigned int i = 0; i < n_calls; i++) {
		ck_assert_int_eq(calls[i].n_answers, 1);
		free(calls[i].got);
		free(calls[i].kept);
	}
	for (unsigned int die = 0; die < FIXTURE_DIES; die++)
		readahead_free(&fixture_files[die].ra, &fixture_eng.ra);
	/* no copy has kept the stage */
	ck_assert(!atomic_flag_test_and_set(&fixture_eng.is_staging));
	io_stop(&fixture_eng);
	ck_assert_uint_eq(fixture_eng.ra.in_use, 0);
	ck_assert_msg(!fake_complaint(), "%s", fake_complaint());
	fake_close();
}

static int on_park(struct io *io)
{
	struct call *c = container_of(io, struct call, io);

	c->n_parks++;
	if (c->park_error)
		return c->park_error;
	if (io->op == IO_WRITE && !c->kept) {
		c->kept = malloc(io->len);
		memcpy(c->kept, io->data, io->len);
		io->data = c->kept;
	}
	return 0;
}

static void on_answer(struct io *io, ssize_t result, const void *data)
{
	struct call *c = container_of(io, struct call, io);

	c->result = result;
	c->thread = pthread_self();
	if (io->op == IO_READ && result > 0) {
		c->got = malloc((size_t)result);
		memcpy(c->got, data, (size_t)result);
	}
	c->n_answers++;
}

struct call *call_new(enum io_op op, struct io_file *f, uint64_t off, uint64_t len)
{
	struct call *c = &calls[n_calls++];

	ck_assert_uint_le(n_calls, FIXTURE_CALLS);
	io_init(&c->io, &fixture_eng, op, f);
	c->io.off = off;
	c->io.len = len;
	c->io.park = on_park;
	c->io.answer = on_answer;
	return c;
}

ssize_t call_wait(struct call *c)
{
	support_wait_until(c->n_answers);
	return c->result;
}

ssize_t call_run(struct call *c)
{
	io_submit(&c->io);
	return call_wait(c);
}

ssize_t call_slot(enum sched_op op, unsigned int die)
{
	struct call *c = call_new(IO_SLOT, NULL, 0, 0);

	c->io.die = die;
	c->io.req.op = op;
	return call_run(c);
}

ssize_t read_at(struct io_file *f, uint64_t off, uint64_t len, void *buf)
{
	struct call *c = call_new(IO_READ, f, off, len);
	ssize_t ret = call_run(c);

	if (ret > 0)
		memcpy(buf, c->got, (size_t)ret);
	return ret;
}

ssize_t write_at(struct io_file *f, uint64_t off, uint64_t len, const void *buf)
{
	struct call *c = call_new(IO_WRITE, f, off, len);

	c->io.data = buf;
	return call_run(c);
}
