// SPDX-License-Identifier: GPL-2.0-or-later
#include "sched_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

struct sched *fixture_sched;
struct backend fixture_be;
_Atomic unsigned int fixture_n_changed;

static struct ask asks[FIXTURE_REQS];
static unsigned int n_asks;

static void on_changed(void *arg)
{
	ck_assert_ptr_eq(arg, &fixture_be);
	fixture_n_changed++;
}

static void on_resume(struct sched_req *req, int result)
{
	struct ask *a = container_of(req, struct ask, req);

	a->result = result;
	a->n_answers++;
}

void fixture_setup(void)
{
	log_init(true, LOG_LEVEL_ERR);
	mock_clock_start(1000 * NSEC_PER_SEC);
	memset(asks, 0, sizeof(asks));
	n_asks = 0;
	fixture_n_changed = 0;
	fake_open(&fixture_be, FIXTURE_DIES, 4096);
	ck_assert_int_eq(sched_start(&fixture_sched, &fixture_be, on_changed,
				     &fixture_be),
			 0);
}

void fixture_teardown(void)
{
	for (unsigned int call = 0; call < FAKE_N_CALLS; call++)
		fake_let_go(call);
	if (fixture_sched) {
		ck_assert_int_eq(sched_stop(fixture_sched), 0);
		sched_free(fixture_sched);
	}
	fixture_sched = NULL;
	for (unsigned int i = 0; i < n_asks; i++)
		ck_assert_int_eq(asks[i].n_answers, 1);
	ck_assert_msg(!fake_complaint(), "%s", fake_complaint());
	fake_close();
	mock_clock_stop();
}

struct ask *ask_new(enum sched_op op, int die)
{
	struct ask *a = &asks[n_asks++];

	ck_assert_uint_le(n_asks, FIXTURE_REQS);
	a->req.op = op;
	a->req.die = die;
	a->req.wait_ns = 5 * NSEC_PER_SEC;
	/* each die's transfers have a client of their own */
	a->req.pid = 4711 + (op == SCHED_IO ? die + 1 : 0);
	strcpy(a->req.comm, "tester");
	a->req.hold = &a->hold;
	a->req.resume = on_resume;
	a->hold.die = -1;
	return a;
}

void ask_submit(struct ask *a)
{
	int ret = sched_try(fixture_sched, &a->req);

	if (ret == -EAGAIN)
		sched_park(fixture_sched, &a->req);
	else
		on_resume(&a->req, ret);
}

struct ask *ask_start(enum sched_op op, int die)
{
	struct ask *a = ask_new(op, die);

	ask_submit(a);
	return a;
}

bool ask_is_open(const struct ask *a)
{
	return !a->n_answers;
}

int ask_wait(struct ask *a)
{
	support_wait_until(a->n_answers);
	return a->result;
}

int ask_run(enum sched_op op, int die)
{
	int ret = ask_wait(ask_start(op, die));

	if (!ret && (op == SCHED_IO || op == SCHED_SYNC))
		sched_put(fixture_sched, (unsigned int)die);
	return ret;
}

/*
 * A request that was interrupted before it is parked is answered by the next
 * round of the scheduler, whatever else goes on; with the second answer the
 * round of the first one is over, callbacks included.
 */
void fixture_settle(void)
{
	for (int i = 0; i < 2; i++) {
		struct ask probe = { .req = { .op = SCHED_SYNC,
					      .resume = on_resume,
					      .interrupted = true } };

		sched_park(fixture_sched, &probe.req);
		ck_assert_int_eq(ask_wait(&probe), -EINTR);
	}
}

void fixture_advance(uint64_t ns)
{
	mock_clock_advance(ns);
	fixture_settle();
}
