/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/trace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/probe.h"
#include "base/util.h"

/**
 * struct cell - a place of the ring, on a cache line of its own
 * @is_in_use: by one thread, which guards the rest; another one comes only when
 *             the ring has gone round meanwhile, or to copy it
 * @seq:       that of the span, from 1 on; 0: there was none yet
 */
struct cell {
	atomic_flag is_in_use;
	uint64_t seq;
	struct trace_span span;
} __attribute__((aligned(64)));

static struct cell ring[TRACE_LEN];
static _Atomic uint64_t n_added;

/* guards all below; taken before a cell */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slot_die = -1; /* who is in */
static uint64_t slot_since;
static uint64_t slot_ns[TRACE_MAX_DIES]; /* before slot_since */

static struct cell *cell_take(uint64_t seq)
{
	struct cell *c = &ring[seq % TRACE_LEN];

	while (atomic_flag_test_and_set_explicit(&c->is_in_use,
						 memory_order_acquire))
		sched_yield();
	return c;
}

static void cell_leave(struct cell *c)
{
	atomic_flag_clear_explicit(&c->is_in_use, memory_order_release);
}

void trace_add(const struct trace_span *span)
{
	uint64_t seq = atomic_fetch_add(&n_added, 1) + 1;
	struct cell *c = cell_take(seq);

	/* else the ring has gone round before this thread went on */
	if (c->seq < seq) {
		c->seq = seq;
		c->span = *span;
	}
	cell_leave(c);
	probe_span(span);
}

static struct trace_span slot_span_locked(uint64_t now)
{
	return (struct trace_span){ .kind = TRACE_SLOT,
				    .die = (unsigned int)slot_die,
				    .start = slot_since,
				    .end = now };
}

void trace_slot(int die)
{
	pthread_mutex_lock(&lock);
	if (die != slot_die) {
		uint64_t now = now_ns();
		struct trace_span span = slot_span_locked(now);

		if (slot_die >= 0) {
			trace_add(&span);
			slot_ns[slot_die] += now - slot_since;
		}
		slot_die = die;
		slot_since = now;
	}
	pthread_mutex_unlock(&lock);
}

uint64_t trace_slot_times(uint64_t *ns)
{
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = now_ns();
	memcpy(ns, slot_ns, sizeof(slot_ns));
	if (slot_die >= 0)
		ns[slot_die] += now - slot_since;
	pthread_mutex_unlock(&lock);
	return now;
}

size_t trace_count(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = (size_t)min_u64(n_added, TRACE_LEN) + (slot_die >= 0);
	pthread_mutex_unlock(&lock);
	return n;
}

size_t trace_copy(struct trace_span *out)
{
	uint64_t last, seq;
	size_t n = 0;

	pthread_mutex_lock(&lock);
	last = n_added;
	seq = last > TRACE_LEN ? last - TRACE_LEN : 0;
	while (++seq <= last) {
		struct cell *c = cell_take(seq);

		/* it may be on its way, or newer by now */
		if (c->seq == seq)
			out[n++] = c->span;
		cell_leave(c);
	}
	if (slot_die >= 0)
		out[n++] = slot_span_locked(now_ns());
	pthread_mutex_unlock(&lock);
	return n;
}
