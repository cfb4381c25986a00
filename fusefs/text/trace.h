/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of the trace file: the JSON of the trace event format, which Perfetto
 * and chrome://tracing open ("Trace Event Format", the Chromium project).
 */
#ifndef K80FS_TEXT_TRACE_H
#define K80FS_TEXT_TRACE_H

#include "base/trace.h"

/* bytes the longest text needs, NUL included: two events a span at most */
#define TRACE_TEXT_MAX ((size_t)TRACE_LEN * 320 + 8192)

/**
 * trace_text() - render
 * @spans, @n: at most TRACE_LEN + 1, in any order
 * @n_dies:    each is a track of its own, and one for its holds
 * @buf:       TRACE_TEXT_MAX bytes
 *
 * Spans of which a die has one at a time are complete events, "X"; of others,
 * which overlap, there are pairs of "b" and "e". In the order of time.
 *
 * Return: length without the NUL; 0 no memory.
 */
size_t trace_text(const struct trace_span *spans, size_t n, unsigned int n_dies,
		  char *buf);

#endif /* K80FS_TEXT_TRACE_H */
