// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many threads on few dies, in random order, against a model; beside them one
 * that pins, looks and takes out, and one that interrupts. ThreadSanitizer
 * runs it too.
 */
#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include "io_fixture.h"
#include "suites.h"

#define WORKERS 6
#define OPS     200
#define REGION  (256 * KIB) /* of each die, for one worker alone */

/**
 * struct worker - a client: one request at a time on files of its own
 * @armed:     request that may be interrupted now, under @lock
 * @model:     what its region of each die must hold
 * @complaint: what went wrong first
 */
struct worker {
	pthread_t thread;
	uint64_t seed;
	struct io_file files[FIXTURE_DIES];
	uint64_t region;
	unsigned char model[FIXTURE_DIES][REGION];
	unsigned char buf[REGION];
	uint64_t next[FIXTURE_DIES]; /* where its last write ended */
	struct io io;
	sem_t answered;
	ssize_t result;
	unsigned int n_submitted;
	_Atomic unsigned int n_answers;
	pthread_mutex_t lock;
	struct io *armed;
	const char *complaint;
};

static struct worker workers[WORKERS];
static atomic_bool is_over;

static void complain(struct worker *w, const char *what)
{
	if (!w->complaint)
		w->complaint = what;
}

static int worker_park(struct io *io)
{
	struct worker *w = container_of(io, struct worker, io);

	pthread_mutex_lock(&w->lock);
	w->armed = io;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static void worker_answer(struct io *io, ssize_t result, const void *data)
{
	struct worker *w = container_of(io, struct worker, io);

	pthread_mutex_lock(&w->lock);
	w->armed = NULL;
	pthread_mutex_unlock(&w->lock);
	if (io->op == IO_READ && result > 0)
		memcpy(w->buf, data, (size_t)result);
	w->result = result;
	w->n_answers++;
	sem_post(&w->answered);
}

static ssize_t submit(struct worker *w, uint64_t off, uint64_t len)
{
	w->io.park = worker_park;
	w->io.answer = worker_answer;
	w->io.off = w->region + off;
	w->io.len = len;
	w->n_submitted++;
	io_submit(&w->io);
	sem_wait(&w->answered);
	return w->result;
}

/* Results that a request may have without any fault. */
static bool is_refused(ssize_t result)
{
	return result == -EINTR || result == -ETIMEDOUT || result == -EBUSY;
}

static void one_transfer(struct worker *w)
{
	static const enum io_op ops[] = { IO_READ, IO_READ, IO_WRITE, IO_WRITE,
					  IO_ZERO, IO_COPY, IO_SYNC };
	enum io_op op = ops[support_random(&w->seed, ARRAY_SIZE(ops))];
	unsigned int die = (unsigned int)support_random(&w->seed, FIXTURE_DIES);
	unsigned int to = (unsigned int)support_random(&w->seed, FIXTURE_DIES);
	uint64_t off = support_random(&w->seed, REGION / 2);
	uint64_t len = 1 + support_random(&w->seed, REGION / 4);
	uint64_t dst_off = REGION / 2 + support_random(&w->seed, REGION / 4);
	struct io_file *f = &w->files[die];
	ssize_t ret;

	io_init(&w->io, &fixture_eng, op, f);
	w->io.req.pid = 1 + (pid_t)(w - workers);
	if (op == IO_WRITE) {
		/* most of them in a row, which may be written behind */
		if (support_random(&w->seed, 4) && w->next[die] < REGION - len)
			off = w->next[die];
		w->next[die] = off + len;
		memset(w->buf, (int)support_random(&w->seed, 256), len);
		w->io.data = w->buf;
	}
	if (op == IO_COPY) {
		w->io.dst = &w->files[to];
		w->io.dst_off = w->region + dst_off;
	}
	ret = submit(w, off, op == IO_SYNC ? 0 : len);
	if (is_refused(ret))
		return;
	if (ret != (op == IO_ZERO || op == IO_SYNC ? 0 : (ssize_t)len)) {
		complain(w, "a result that nothing explains");
		return;
	}
	switch (op) {
	case IO_READ:
		if (memcmp(w->buf, w->model[die] + off, len))
			complain(w, "a read gave other bytes than were there");
		break;
	case IO_WRITE:
		memmove(w->model[die] + off, w->buf, len);
		break;
	case IO_ZERO:
		memset(w->model[die] + off, 0, len);
		break;
	case IO_COPY:
		/* all is read before anything is written */
		memmove(w->model[to] + dst_off, w->model[die] + off, len);
		break;
	default:
		break;
	}
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < OPS && !w->complaint; i++)
		one_transfer(w);
	return NULL;
}

/* Takes and ends holds, looks at dies, takes them out. Results do not matter,
 * that there is one does. */
static void *run_commander(void *arg)
{
	static const enum sched_op ops[] = { SCHED_ACQUIRE, SCHED_PIN,
					     SCHED_LEASE, SCHED_RELEASE };
	struct worker *w = arg;
	struct sched_hold hold = { .die = -1 };

	while (!is_over) {
		unsigned int die =
			(unsigned int)support_random(&w->seed, FIXTURE_DIES);

		io_init(&w->io, &fixture_eng, IO_SLOT, NULL);
		w->io.die = die;
		w->io.req.op = ops[support_random(&w->seed, ARRAY_SIZE(ops))];
		w->io.req.hold = &hold;
		submit(w, 0, 0);
		support_nap();
		sched_drop(fixture_eng.sched, &hold);
		sched_unpin(fixture_eng.sched, die);
	}
	return NULL;
}

static void *run_interrupter(void *arg)
{
	struct worker *self = arg;

	while (!is_over) {
		struct worker *w =
			&workers[support_random(&self->seed, WORKERS - 2)];

		support_nap();
		pthread_mutex_lock(&w->lock);
		if (w->armed)
			io_interrupt(w->armed);
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

static void worker_init(struct worker *w, unsigned int i)
{
	memset(w, 0, sizeof(*w));
	w->seed = i + 1;
	w->region = i * REGION;
	sem_init(&w->answered, 0, 0);
	pthread_mutex_init(&w->lock, NULL);
	for (unsigned int die = 0; die < FIXTURE_DIES; die++)
		file_open(&w->files[die], die);
}

START_TEST(random_requests_get_one_answer_each_and_the_right_bytes)
{
	fixture_eng.wait_ns = 20 * NSEC_PER_SEC;
	is_over = false;
	for (unsigned int i = 0; i < WORKERS; i++)
		worker_init(&workers[i], i);
	for (unsigned int i = 0; i < WORKERS; i++) {
		void *(*const run)(void *) = i < WORKERS - 2   ? run_worker
					     : i < WORKERS - 1 ? run_commander
							       : run_interrupter;

		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run,
						&workers[i]),
				 0);
	}
	for (unsigned int i = 0; i < WORKERS; i++) {
		if (i == WORKERS - 2)
			is_over = true;
		pthread_join(workers[i].thread, NULL);
	}
	ck_assert_uint_eq(io_settle(&fixture_eng, 20 * NSEC_PER_SEC), 0);
	ck_assert_int_eq(call_slot(SCHED_RELEASE, 0), 0);
	for (unsigned int i = 0; i < WORKERS; i++) {
		struct worker *w = &workers[i];

		ck_assert_msg(!w->complaint, "worker %u: %s", i, w->complaint);
		ck_assert_uint_eq(w->n_answers, w->n_submitted);
		for (unsigned int die = 0; die < FIXTURE_DIES; die++) {
			if (i < WORKERS - 2)
				ck_assert(!memcmp(fake_mem(die) + w->region,
						  w->model[die], REGION));
			readahead_free(&w->files[die].ra, &fixture_eng.ra);
		}
		sem_destroy(&w->answered);
	}
}
END_TEST

Suite *io_stress_suite(void)
{
	Suite *suite = suite_create("io_stress");
	TCase *tcase = tcase_create("random");

	tcase_add_checked_fixture(tcase, io_fixture_setup, io_fixture_teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase,
		       random_requests_get_one_answer_each_and_the_right_bytes);
	suite_add_tcase(suite, tcase);
	return suite;
}
