/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/trace.h"

#include <pthread.h>
#include <string.h>

#include "base/util.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct trace_span ring[TRACE_LEN];
static size_t n_added;
static int slot_die = -1; /* who is in */
static uint64_t slot_since;
static uint64_t slot_ns[TRACE_MAX_DIES]; /* before slot_since */

void trace_add(const struct trace_span *span)
{
	pthread_mutex_lock(&lock);
	ring[n_added++ % TRACE_LEN] = *span;
	pthread_mutex_unlock(&lock);
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

		if (slot_die >= 0) {
			ring[n_added++ % TRACE_LEN] = slot_span_locked(now);
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

static size_t kept_locked(void)
{
	return MIN(n_added, (size_t)TRACE_LEN);
}

size_t trace_count(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = kept_locked() + (slot_die >= 0);
	pthread_mutex_unlock(&lock);
	return n;
}

size_t trace_copy(struct trace_span *out)
{
	size_t n, first;

	pthread_mutex_lock(&lock);
	n = kept_locked();
	first = n_added - n;
	for (size_t i = 0; i < n; i++)
		out[i] = ring[(first + i) % TRACE_LEN];
	if (slot_die >= 0)
		out[n++] = slot_span_locked(now_ns());
	pthread_mutex_unlock(&lock);
	return n;
}
