/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From two samples to lines of text. */
#ifndef K80_TOP_ROWS_H
#define K80_TOP_ROWS_H

#include <stddef.h>

#include "top/top.h"

#define ROWS_LINE_MAX 256

enum rows_order { ROWS_BY_DIE, ROWS_BY_SLOT, ROWS_BY_TRAFFIC, ROWS_BY_WAITING };

/**
 * struct row - a die in the time between two samples
 * @slot:  share of that time in which it was in the slot, 0 .. 1
 * @read, @written: bytes a second; @swaps: a second
 */
struct row {
	unsigned int number;
	struct top_die die; /* as of the second sample */
	double slot, read, written, swaps;
};

/**
 * struct rows - of all dies
 * @has_rates: false: there is no time between the samples, or another mount
 * @all:       sums of all
 */
struct rows {
	bool has_rates;
	bool has_slot;
	double seconds;
	unsigned int n;
	struct row row[TOP_MAX_DIES];
	struct row all;
};

/** rows_make() - @from: NULL, or the sample before @to */
void rows_make(const struct top_sample *from, const struct top_sample *to,
	       struct rows *out);

/** rows_sort() - the largest first, but by die; @is_reverse: the other way */
void rows_sort(struct rows *rows, enum rows_order order, bool is_reverse);

/** rows_order_name() - "die", ... */
const char *rows_order_name(enum rows_order order);

/**
 * rows_head(), rows_text(), rows_sums() - a line, without its newline
 * @line:     ROWS_LINE_MAX bytes
 * @is_exact: plain numbers for programs, else as people read them
 */
void rows_head(char *line, bool is_exact);
void rows_text(const struct rows *rows, unsigned int i, bool is_exact,
	       char *line);
void rows_sums(const struct rows *rows, bool is_exact, char *line);

#endif /* K80_TOP_ROWS_H */
