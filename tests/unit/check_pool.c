// SPDX-License-Identifier: GPL-2.0-or-later
/* Copy threads and bounce buffers. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "engine/pool.h"
#include "suites.h"
#include "support.h"

#define THREADS 4
#define WORKS   1000

struct work {
	struct pool_work work; /* first: what the pool sees */
	_Atomic int n_runs;
	int turn; /* how many ran before it */
	pthread_t thread;
	void *buf;
};

static struct pool *pool;
static struct work works[WORKS];
static pthread_barrier_t barrier;
static _Atomic int n_turns;

static void setup(void)
{
	memset(works, 0, sizeof(works));
	n_turns = 0;
	pool = pool_start(THREADS);
	ck_assert_ptr_nonnull(pool);
}

static void teardown(void)
{
	pool_stop(pool);
	pool = NULL;
}

static void count(struct pool_work *work)
{
	struct work *w = container_of(work, struct work, work);

	w->thread = pthread_self();
	w->turn = n_turns++;
	w->n_runs++;
}

static void meet(struct pool_work *work)
{
	pthread_barrier_wait(&barrier);
	count(work);
}

static void take_buffer(struct pool_work *work)
{
	struct work *w = container_of(work, struct work, work);

	w->buf = pool_bounce();
	meet(work);
}

static void submit(struct work *w, void (*fn)(struct pool_work *work))
{
	w->work.fn = fn;
	pool_submit(pool, &w->work);
}

START_TEST(work_runs_once_on_a_thread_of_the_pool)
{
	submit(&works[0], count);
	support_wait_until(works[0].n_runs == 1);
	ck_assert(!pthread_equal(works[0].thread, pthread_self()));
}
END_TEST

START_TEST(as_many_works_run_at_once_as_there_are_threads)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		submit(&works[i], meet);
	for (int i = 0; i < THREADS; i++)
		support_wait_until(works[i].n_runs == 1);
	for (int i = 1; i < THREADS; i++)
		ck_assert(!pthread_equal(works[0].thread, works[i].thread));
	pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(stop_finishes_what_was_submitted)
{
	for (int i = 0; i < WORKS; i++)
		submit(&works[i], count);
	teardown();
	for (int i = 0; i < WORKS; i++)
		ck_assert_int_eq(works[i].n_runs, 1);
}
END_TEST

static void *submit_quarter(void *arg)
{
	struct work *first = arg;

	for (int i = 0; i < WORKS / 4; i++)
		submit(&first[i], count);
	return NULL;
}

START_TEST(submit_from_many_threads_loses_nothing)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, submit_quarter,
			       &works[i * WORKS / 4]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WORKS; i++)
		support_wait_until(works[i].n_runs == 1);
}
END_TEST

static void submit_next(struct pool_work *work)
{
	struct work *w = container_of(work, struct work, work);

	if (w + 1 < works + WORKS)
		submit(w + 1, submit_next);
	count(work);
}

START_TEST(work_may_submit_work_also_while_the_pool_stops)
{
	submit(&works[0], submit_next);
	teardown();
	for (int i = 0; i < WORKS; i++)
		ck_assert_int_eq(works[i].n_runs, 1);
}
END_TEST

START_TEST(works_run_in_the_order_they_were_submitted)
{
	pool_stop(pool);
	pool = pool_start(1);
	for (int i = 0; i < WORKS; i++)
		submit(&works[i], count);
	support_wait_until(works[WORKS - 1].n_runs == 1);
	for (int i = 0; i < WORKS; i++)
		ck_assert_int_eq(works[i].turn, i);
}
END_TEST

START_TEST(stop_of_a_pool_that_never_worked_returns)
{
	pool_stop(pool_start(1));
	pool_stop(NULL);
}
END_TEST

START_TEST(bounce_buffer_is_the_threads_own_and_stays)
{
	void *mine = pool_bounce();

	ck_assert_ptr_nonnull(mine);
	ck_assert_ptr_eq(pool_bounce(), mine);
	memset(mine, 0x5a, POOL_BOUNCE_LEN);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		submit(&works[i], take_buffer);
	for (int i = 0; i < THREADS; i++)
		support_wait_until(works[i].n_runs == 1);
	for (int i = 0; i < THREADS; i++) {
		char *a = works[i].buf;

		ck_assert_ptr_nonnull(a);
		ck_assert_ptr_ne(a, mine);
		for (int j = 0; j < i; j++) {
			char *b = works[j].buf;

			ck_assert(a + POOL_BOUNCE_LEN <= b ||
				  b + POOL_BOUNCE_LEN <= a);
		}
	}
	pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(bounce_buffer_may_be_one_huge_page)
{
	ck_assert_uint_eq((uintptr_t)pool_request_buf() % POOL_REQUEST_LEN, 0);
}
END_TEST

START_TEST(bounce_buffer_goes_with_its_thread)
{
	unsigned char vec;

	pthread_barrier_init(&barrier, NULL, 1);
	submit(&works[0], take_buffer);
	support_wait_until(works[0].n_runs == 1);
	ck_assert_int_eq(mincore(works[0].buf, 4096, &vec), 0);
	teardown();
	ck_assert_int_eq(mincore(works[0].buf, 4096, &vec), -1);
	ck_assert_int_eq(errno, ENOMEM);
	pthread_barrier_destroy(&barrier);
}
END_TEST

Suite *pool_suite(void)
{
	Suite *suite = suite_create("pool");
	TCase *work = tcase_create("work");
	TCase *bounce = tcase_create("bounce");

	tcase_add_checked_fixture(work, setup, teardown);
	tcase_add_test(work, work_runs_once_on_a_thread_of_the_pool);
	tcase_add_test(work, as_many_works_run_at_once_as_there_are_threads);
	tcase_add_test(work, stop_finishes_what_was_submitted);
	tcase_add_test(work, submit_from_many_threads_loses_nothing);
	tcase_add_test(work, work_may_submit_work_also_while_the_pool_stops);
	tcase_add_test(work, works_run_in_the_order_they_were_submitted);
	tcase_add_test(work, stop_of_a_pool_that_never_worked_returns);
	suite_add_tcase(suite, work);

	tcase_add_checked_fixture(bounce, setup, teardown);
	tcase_add_test(bounce, bounce_buffer_is_the_threads_own_and_stays);
	tcase_add_test(bounce, bounce_buffer_may_be_one_huge_page);
	tcase_add_test(bounce, bounce_buffer_goes_with_its_thread);
	suite_add_tcase(suite, bounce);
	return suite;
}
