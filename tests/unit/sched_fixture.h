/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the scheduler's suites share: a scheduler over the fake backend, on the
 * mock clock, and requests that know their answer.
 */
#ifndef SCHED_FIXTURE_H
#define SCHED_FIXTURE_H

#include <stdatomic.h>

#include "base/util.h"
#include "fake_backend.h"
#include "mock_clock.h"
#include "sched/sched.h"
#include "support.h"

#define FIXTURE_DIES 4
#define FIXTURE_REQS 64

/**
 * struct ask - a request and what became of it
 * @n_answers: must end as 1
 * @result:    valid when there is an answer
 * @hold:      for LEASE
 */
struct ask {
	struct sched_req req;
	_Atomic int n_answers;
	int result;
	struct sched_hold hold;
};

/* valid between fixture_setup() and fixture_teardown() */
extern struct sched *fixture_sched;
extern struct backend fixture_be;
extern _Atomic unsigned int fixture_n_changed; /* calls of changed() */

void fixture_setup(void);

/** fixture_teardown() - stops; every request must have one answer by then */
void fixture_teardown(void);

/** ask_new() - a request that waits for 5 s of blocked time; the fixture's */
struct ask *ask_new(enum sched_op op, int die);

/** ask_submit() - try, and park if it must wait */
void ask_submit(struct ask *a);

/** ask_start() - ask_new() and ask_submit() */
struct ask *ask_start(enum sched_op op, int die);

/** ask_wait() - until it is answered. Returns the result */
int ask_wait(struct ask *a);

/** ask_run() - ask_start() and ask_wait(); gives an IO back at once */
int ask_run(enum sched_op op, int die);

/** ask_is_open() - no answer yet */
bool ask_is_open(const struct ask *a);

/** fixture_settle() - returns when the scheduler has seen all that was done
 * before the call, and has called back for it */
void fixture_settle(void);

/** fixture_advance() - move the clock, and settle */
void fixture_advance(uint64_t ns);

#endif /* SCHED_FIXTURE_H */
