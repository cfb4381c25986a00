/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened last, for the trace file: a ring of spans of time, one for the
 * whole process, like the log. A span costs an atomic addition and forty bytes
 * of copying: threads that copy side by side do not wait for one another. And
 * how long each die was in the slot.
 */
#ifndef K80FS_TRACE_H
#define K80FS_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_LEN      2048 /* spans that are kept */
#define TRACE_MAX_DIES 16

enum trace_kind {
	TRACE_SLOT, /* the die was in the slot */
	TRACE_SWAP, /* it was put in */
	TRACE_HOLD, /* it was pinned or leased */
	TRACE_WAIT, /* a request waited for it */
	TRACE_READ,
	TRACE_WRITE,
	TRACE_ZERO,
	TRACE_N_KINDS,
};

/**
 * struct trace_span - something that is over
 * @start, @end: as now_ns()
 * @bytes: of a copy
 * @pid:   who waited, or held it; 0 if not known
 */
struct trace_span {
	enum trace_kind kind;
	unsigned int die;
	int pid;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
};

/** trace_add() - any thread, any lock; the oldest span is forgotten */
void trace_add(const struct trace_span *span);

/** trace_slot() - @die < TRACE_MAX_DIES is in the slot from now on, -1: none */
void trace_slot(int die);

/**
 * trace_slot_times() - how long each die was in the slot, all together
 * @ns: out: TRACE_MAX_DIES of them
 *
 * Return: the moment of which that is true, as now_ns().
 */
uint64_t trace_slot_times(uint64_t *ns);

/**
 * trace_copy() - the spans that are kept, oldest end first
 * @out: TRACE_LEN + 1 of them: the die that is in comes last
 *
 * Return: how many.
 */
size_t trace_copy(struct trace_span *out);

/** trace_count() - how many trace_copy() would give, or a few more */
size_t trace_count(void);

#endif /* K80FS_TRACE_H */
