/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* one for people, one for programs */
static const char *const head_formats[] = {
	"%4s %-8s %6s %8s %8s %8s %5s %5s %-5s %s",
	"%3s %-8s %7s %14s %14s %12s %5s %8s %-5s %s",
};

/* A counter starts anew with its daemon. */
static double rate(uint64_t from, uint64_t to, double seconds)
{
	return to > from ? (double)(to - from) / seconds : 0;
}

static void make_row(const struct top_die *from, const struct top_die *to,
		     double seconds, struct row *out)
{
	out->slot = rate(from->slot_ns, to->slot_ns, seconds) / NSEC_PER_SEC;
	out->read = rate(from->read_bytes, to->read_bytes, seconds);
	out->written = rate(from->written_bytes, to->written_bytes, seconds);
	out->swaps = rate(from->swaps, to->swaps, seconds);
}

static void add_row(struct row *sum, const struct row *row)
{
	sum->slot += row->slot;
	sum->read += row->read;
	sum->written += row->written;
	sum->swaps += row->swaps;
	sum->die.waiting += row->die.waiting;
	sum->die.errors += row->die.errors;
}

void rows_make(const struct top_sample *from, const struct top_sample *to,
	       struct rows *out)
{
	memset(out, 0, sizeof(*out));
	out->n = to->n_dies;
	out->has_slot = to->has_slot;
	out->has_rates = from && from->mount == to->mount &&
			 from->n_dies == to->n_dies && to->at_ns > from->at_ns;
	if (out->has_rates)
		out->seconds = (double)(to->at_ns - from->at_ns) / NSEC_PER_SEC;
	for (unsigned int die = 0; die < out->n; die++) {
		struct row *row = &out->row[die];

		row->number = die;
		row->die = to->dies[die];
		if (out->has_rates)
			make_row(&from->dies[die], &to->dies[die], out->seconds,
				 row);
		add_row(&out->all, row);
	}
}

static int compare(double a, double b)
{
	return (a < b) - (a > b);
}

static int by_die(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_slot(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int ret = compare(x->slot, y->slot);

	return ret ? ret : by_die(a, b);
}

static int by_traffic(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int ret = compare(x->read + x->written, y->read + y->written);

	return ret ? ret : by_die(a, b);
}

static int by_waiting(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int ret = compare((double)x->die.waiting, (double)y->die.waiting);

	return ret ? ret : by_die(a, b);
}

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[] = {
	[ROWS_BY_DIE] = { "die", by_die },
	[ROWS_BY_SLOT] = { "slot", by_slot },
	[ROWS_BY_TRAFFIC] = { "traffic", by_traffic },
	[ROWS_BY_WAITING] = { "waiting", by_waiting },
};

void rows_sort(struct rows *rows, enum rows_order order, bool is_reverse)
{
	qsort(rows->row, rows->n, sizeof(*rows->row), orders[order].compare);
	for (unsigned int i = 0; is_reverse && i < rows->n / 2; i++) {
		struct row row = rows->row[i];

		rows->row[i] = rows->row[rows->n - 1 - i];
		rows->row[rows->n - 1 - i] = row;
	}
}

const char *rows_order_name(enum rows_order order)
{
	return orders[order].name;
}

/* "1023.9M": seven characters at most */
static void put_bytes(char *text, size_t size, double n, bool is_exact)
{
	static const char units[] = "KMGT";
	int unit = -1;

	if (is_exact) {
		snprintf(text, size, "%.0f", n);
		return;
	}
	while (n >= 1023.95 && unit + 2 < (int)sizeof(units)) {
		n /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(text, size, "%.0f", n);
	else
		snprintf(text, size, "%.1f%c", n, units[unit]);
}

struct words {
	char slot[16], read[24], written[24], swaps[24];
};

/* What is not known, or not to be had, is a "-". */
static void put_words(const struct rows *rows, const struct row *row,
		      bool is_exact, struct words *w)
{
	strcpy(w->slot, "-");
	strcpy(w->read, "-");
	strcpy(w->written, "-");
	strcpy(w->swaps, "-");
	if (!rows->has_rates)
		return;
	put_bytes(w->read, sizeof(w->read), row->read, is_exact);
	put_bytes(w->written, sizeof(w->written), row->written, is_exact);
	if (!rows->has_slot)
		return;
	snprintf(w->slot, sizeof(w->slot), is_exact ? "%.2f" : "%.1f",
		 100 * row->slot);
	snprintf(w->swaps, sizeof(w->swaps), is_exact ? "%.3f" : "%.1f",
		 row->swaps);
}

void rows_head(char *line, bool is_exact)
{
	snprintf(line, ROWS_LINE_MAX, head_formats[is_exact], "DIE", "STATE",
		 "SLOT%", "READ/s", "WRITE/s", "SWAPS/s", "WAIT", "ERR", "HOLD",
		 "HOLDER");
}

void rows_text(const struct rows *rows, unsigned int i, bool is_exact, char *line)
{
	const struct row *row = &rows->row[i];
	char number[12], waiting[24], errors[24];
	struct words w;

	put_words(rows, row, is_exact, &w);
	snprintf(number, sizeof(number), "%u", row->number);
	snprintf(waiting, sizeof(waiting), "%" PRIu64, row->die.waiting);
	snprintf(errors, sizeof(errors), "%" PRIu64, row->die.errors);
	snprintf(line, ROWS_LINE_MAX, head_formats[is_exact], number,
		 row->die.state, w.slot, w.read, w.written, w.swaps, waiting,
		 errors, row->die.hold, row->die.holder);
}

void rows_sums(const struct rows *rows, bool is_exact, char *line)
{
	struct words w;

	put_words(rows, &rows->all, is_exact, &w);
	snprintf(line, ROWS_LINE_MAX,
		 "swaps/s %s  slot%% %s  read/s %s  write/s %s  waiting %" PRIu64
		 "  errors %" PRIu64,
		 w.swaps, w.slot, w.read, w.written, rows->all.die.waiting,
		 rows->all.die.errors);
}
