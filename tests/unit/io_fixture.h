/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine's suites share: an engine with scheduler and copy threads
 * over the fake backend, open files, and calls that know their answer.
 */
#ifndef IO_FIXTURE_H
#define IO_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/util.h"
#include "engine/io.h"
#include "fake_backend.h"
#include "support.h"

#define FIXTURE_DIES  3
#define FIXTURE_BYTES (40 * MIB) /* of each die: more than one stage */
#define FIXTURE_CALLS 64

/**
 * struct call - a request and what became of it
 * @n_answers:  must end as 1
 * @result:     valid when there is an answer, as what follows
 * @got:        READ: copy of the data
 * @thread:     where it was answered
 * @n_parks:    calls of park()
 * @park_error: what park() is to say
 */
struct call {
	struct io io;
	_Atomic int n_answers;
	ssize_t result;
	unsigned char *got;
	pthread_t thread;
	unsigned int n_parks;
	int park_error;
	void *kept;
};

/* valid between io_fixture_setup() and io_fixture_teardown() */
extern struct io_engine fixture_eng;
extern struct io_file fixture_files[FIXTURE_DIES]; /* whole of each die */

void io_fixture_setup(void);

/** io_fixture_stop() - end the scheduler's threads, as the daemon does first */
void io_fixture_stop(void);

/** io_fixture_teardown() - every call must have one answer by then */
void io_fixture_teardown(void);

/** file_open() - an open file on all of a die, at its present generation */
void file_open(struct io_file *f, unsigned int die);

/** call_new() - the fixture's; not submitted */
struct call *call_new(enum io_op op, struct io_file *f, uint64_t off,
		      uint64_t len);

/** calls_forget() - all calls so far have their answer: start again */
void calls_forget(void);

/** call_wait() - until it is answered. Returns the result */
ssize_t call_wait(struct call *c);

/** call_run() - submit and wait */
ssize_t call_run(struct call *c);

/** call_slot() - run a command on the slot, as ctl does */
ssize_t call_slot(enum sched_op op, unsigned int die);

/** read_at(), write_at() - run one transfer */
ssize_t read_at(struct io_file *f, uint64_t off, uint64_t len, void *buf);
ssize_t write_at(struct io_file *f, uint64_t off, uint64_t len, const void *buf);

#endif /* IO_FIXTURE_H */
