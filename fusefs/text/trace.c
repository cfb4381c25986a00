/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/trace.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"

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

struct out {
	char *buf;
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o,
						      const char *fmt, ...)
{
	size_t room = TRACE_TEXT_MAX - o->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->buf + o->len, room, fmt, ap);
	va_end(ap);
	o->len += MIN((size_t)n, room - 1);
}

/* In microseconds, as the format wants them. */
static void put_time(struct out *o, const char *key, uint64_t ns)
{
	put(o, ",\"%s\":%llu.%03llu", key, ns / NSEC_PER_USEC,
	    ns % NSEC_PER_USEC);
}

static void put_tracks(struct out *o, unsigned int n_dies)
{
	for (unsigned int die = 0; die < n_dies; die++) {
		put(o,
		    "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"die %u\"}},\n",
		    2 * die + 1, die);
		put(o,
		    "{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"die %u: holds\"}},\n",
		    2 * die + 2, die);
	}
}

static void put_mark(struct out *o, const struct mark *m, size_t id)
{
	const struct trace_span *s = m->span;
	bool overlaps = kinds[s->kind].overlaps;
	const char *ph = overlaps ? m->is_end ? "e" : "b" : "X";

	put(o, "{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"name\":\"%s\"", ph,
	    2 * s->die + 1 + (s->kind == TRACE_HOLD), kinds[s->kind].name);
	put_time(o, "ts", m->at);
	if (overlaps)
		put(o, ",\"cat\":\"request\",\"id\":%zu", id);
	else
		put_time(o, "dur", s->end - s->start);
	if (!m->is_end)
		put(o, ",\"args\":{\"bytes\":%llu,\"pid\":%d}",
		    (unsigned long long)s->bytes, s->pid);
	put(o, "},\n");
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
	struct out o = { buf, 0 };
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
	put(&o, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
	put_tracks(&o, n_dies);
	for (size_t i = 0; i < n_marks; i++)
		put_mark(&o, &marks[i], (size_t)(marks[i].span - spans));
	put(&o,
	    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"k80fs\"}}\n]}\n");
	free(marks);
	return o.len;
}
