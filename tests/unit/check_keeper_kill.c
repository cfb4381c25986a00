// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients that are killed at any time: the keeper has what a finished call has
 * left, or the one that was under way. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper_fixture.h"
#include "suites.h"
#include "support.h"

#define KILLS   200
#define MAX_PUT 700 /* three parts */

/* What POOL has: the ids from first on, and a table that says table. */
struct state {
	uint64_t first, n, table;
};

/**
 * struct notes - what the child was about, in memory that outlives it
 * @done: after the last call that has returned
 * @next: after the one that was begun; of no call, @done
 */
struct notes {
	struct state done, next;
	_Atomic uint64_t n_calls;
};

static struct notes *notes;

static void setup(void)
{
	keeper_setup();
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(notes, MAP_FAILED);
	notes->done.first = 1;
	notes->next = notes->done;
}

static void teardown(void)
{
	munmap(notes, sizeof(*notes));
	keeper_teardown();
}

static int put(struct keeper *k, uint64_t *random)
{
	unsigned int n = 1 + (unsigned int)support_random(random, MAX_PUT);

	notes->next.n += n;
	return put_ids(k, notes->done.first + notes->done.n, n);
}

static int drop(struct keeper *k, uint64_t *random)
{
	uint64_t ids[KEEPER_BATCH];
	unsigned int n = (unsigned int)MIN(
		1 + support_random(random, KEEPER_BATCH), notes->done.n);

	for (unsigned int i = 0; i < n; i++)
		ids[i] = notes->done.first + i;
	notes->next.first += n;
	notes->next.n -= n;
	return keeper_drop(k, POOL, ids, n);
}

static int set_table(struct keeper *k)
{
	int fd = memory_of(++notes->next.table);
	int ret = keeper_set_table(k, POOL, fd);

	close(fd);
	return ret;
}

static void work(uint64_t random)
{
	struct keeper *k;
	int ret = 0;

	if (keeper_open(&k, keeper_path, false, keeper_why, sizeof(keeper_why)) ||
	    keeper_claim(k, POOL, NULL))
		_exit(1);
	while (!ret) {
		switch (support_random(&random, notes->done.n > 3000 ? 2 : 3)) {
		case 0:
			ret = set_table(k);
			break;
		case 1:
			ret = drop(k, &random);
			break;
		default:
			ret = put(k, &random);
			break;
		}
		/* killed between these two, both states are the same */
		notes->done = notes->next;
		notes->n_calls++;
	}
	_exit(1);
}

struct seen {
	uint64_t first, n;
};

static int see(void *arg, uint64_t id, int fd)
{
	struct seen *s = arg;
	uint64_t first = memory_number(fd);

	if (!s->n)
		s->first = id;
	support_assert(id == s->first + s->n);
	/* and it is the memory that was put with this id */
	support_assert(first <= id && id < first + MAX_PUT);
	s->n++;
	return 0;
}

static bool is(const struct seen *s, uint64_t table, const struct state *wanted)
{
	return s->n == wanted->n && (!s->n || s->first == wanted->first) &&
	       table == wanted->table;
}

/* What the keeper has is one of two states; go on from there. */
static void compare(void)
{
	struct seen s = { 0 };
	uint64_t table = 0;
	int fd;

	ck_assert_int_eq(keeper_claim(keeper, POOL, NULL), 0);
	ck_assert_int_eq(keeper_each(keeper, POOL, see, &s), 0);
	if (!keeper_table(keeper, POOL, &fd))
		table = memory_number(fd);
	if (is(&s, table, &notes->next))
		notes->done = notes->next;
	else
		ck_assert(is(&s, table, &notes->done));
	notes->next = notes->done;
	/* nothing is held besides: 0-2, the lock, the socket, the client */
	ck_assert_int_eq(keeper_n_fds(), (int)s.n + (table ? 7 : 6));
	keeper_close(keeper);
	keeper = keeper_connect();
}

START_TEST(kill_of_a_client_leaves_what_a_call_has_left)
{
	uint64_t random = 4711, calls = 0;

	for (int i = 0; i < KILLS; i++) {
		const struct timespec ns = { .tv_nsec = (long)support_random(
						     &random, 2000000) };
		uint64_t seed = 1 + support_random(&random, 1 << 20);
		pid_t pid = fork();
		int status;

		if (!pid)
			work(seed);
		support_wait_until(notes->n_calls > calls ||
				   waitpid(pid, &status, WNOHANG));
		nanosleep(&ns, NULL);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		calls = notes->n_calls;
		compare();
	}
	ck_assert_uint_ge(calls, KILLS);
}
END_TEST

Suite *keeper_kill_suite(void)
{
	Suite *s = suite_create("keeper_kill");
	TCase *tc = tcase_create("kill");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, kill_of_a_client_leaves_what_a_call_has_left);
	suite_add_tcase(s, tc);
	return s;
}
