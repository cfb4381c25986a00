/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the trace file: the JSON of the trace event format, which Perfetto
 * and chrome://tracing open ("Trace Event Format", the Chromium project).
 */
#ifndef K80FS_TEXT_TRACE_H
#define K80FS_TEXT_TRACE_H

#include "base/trace.h"

/* bytes the longest text of @n spans needs, NUL included: two events a span at
 * most; one span more is in what is there for all */
#define TRACE_TEXT_LEN(n) ((size_t)(n)*320 + 8192)
#define TRACE_TEXT_MAX    TRACE_TEXT_LEN(TRACE_LEN)

/**
 * trace_text() - render
 * @spans, @n: at most TRACE_LEN + 1, in any order
 * @n_dies:    each is a track of its own, and one for its holds
 * @buf:       TRACE_TEXT_LEN(@n) bytes
 *
 * Spans of which a die has one at a time are complete events, "X"; of others,
 * which overlap, there are pairs of "b" and "e". In the order of time.
 *
 * Return: length without the NUL; 0 no memory.
 */
size_t trace_text(const struct trace_span *spans, size_t n, unsigned int n_dies,
		  char *buf);

#endif /* K80FS_TEXT_TRACE_H */
