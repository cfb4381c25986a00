/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/trace.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"
#include "text/put.h"

static const struct {
	const char *name;
	bool overlaps;
} kinds[TRACE_N_KINDS] = {
	[TRACE_SLOT] = { "in the slot", false },
	[TRACE_SWAP] = { "swap", false },
	[TRACE_HOLD] = { "hold", false },
	[TRACE_WAIT] = { "wait", true },
	[TRACE_READ] = { "read", true },
	[TRACE_WRITE] = { "write", true },
	[TRACE_ZERO] = { "zero", true },
};

/* Where a span begins or ends. */
struct mark {
	uint64_t at;
	const struct trace_span *span;
	bool is_end;
};

/* In microseconds, as the format wants them. */
static void put_time(struct text *t, const char *key, uint64_t ns)
{
	put(t, ",\"%s\":%llu.%03llu", key, ns / NSEC_PER_USEC,
	    ns % NSEC_PER_USEC);
}

static void put_tracks(struct text *t, unsigned int n_dies)
{
	for (unsigned int die = 0; die < n_dies; die++) {
		put(t,
		    "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"die %u\"}},\n",
		    2 * die + 1, die);
		put(t,
		    "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"die %u: holds\"}},\n",
		    2 * die + 2, die);
	}
}

static void put_mark(struct text *t, const struct mark *m, size_t id)
{
	const struct trace_span *s = m->span;
	bool overlaps = kinds[s->kind].overlaps;
	const char *ph = overlaps ? m->is_end ? "e" : "b" : "X";

	put(t, "{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"name\":\"%s\"", ph,
	    2 * s->die + 1 + (s->kind == TRACE_HOLD), kinds[s->kind].name);
	put_time(t, "ts", m->at);
	if (overlaps)
		put(t, ",\"cat\":\"request\",\"id\":%zu", id);
	else
		put_time(t, "dur", s->end - s->start);
	if (!m->is_end)
		put(t, ",\"args\":{\"bytes\":%llu,\"pid\":%d}",
		    (unsigned long long)s->bytes, s->pid);
	put(t, "},\n");
}

/* A beginning before an end of the same moment, the longer of two first. */
static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? 1 : -1;
	if (x->span->end != y->span->end)
		return x->span->end > y->span->end ? -1 : 1;
	return 0;
}

size_t trace_text(const struct trace_span *spans, size_t n, unsigned int n_dies,
		  char *buf)
{
	struct mark *marks = malloc(2 * (n + 1) * sizeof(*marks));
	struct text t = { buf, TRACE_TEXT_MAX, 0 };
	size_t n_marks = 0;

	if (!marks)
		return 0;
	for (size_t i = 0; i < n; i++) {
		marks[n_marks++] =
			(struct mark){ spans[i].start, &spans[i], false };
		if (kinds[spans[i].kind].overlaps)
			marks[n_marks++] =
				(struct mark){ spans[i].end, &spans[i], true };
	}
	qsort(marks, n_marks, sizeof(*marks), by_time);
	put(&t, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
	put_tracks(&t, n_dies);
	for (size_t i = 0; i < n_marks; i++)
		put_mark(&t, &marks[i], (size_t)(marks[i].span - spans));
	put(&t,
	    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"k80fs\"}}\n]}\n");
	free(marks);
	return t.len;
}
