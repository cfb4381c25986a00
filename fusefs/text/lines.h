/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of an open file that takes commands: which bytes of a write may run.
 *
 * A line runs when it is whole. A program that writes through a buffer cuts its
 * lines anywhere, so what stands behind the last newline is kept and goes on
 * with the next write. A write that is the first of its open file and holds no
 * newline at all is taken for a line as it is, as `printf pin > ctl` makes it,
 * unless the command needs its newline. What is kept at the close runs then.
 */
#ifndef K80FS_LINES_H
#define K80FS_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/ctl.h"

#define LINES_MAX CTL_MAX_WRITE /* bytes of a line that comes in pieces */

/** lines_needs_fn - whether a line must not run without its newline */
typedef bool (*lines_needs_fn)(const char *line, size_t len);

/**
 * struct lines - of one open file; starts zeroed
 * @has_begun: a write came
 * @kept: the start of a line, @len bytes; NULL: none
 */
struct lines {
	bool has_begun;
	char *kept;
	size_t len;
};

/**
 * struct lines_work - what is to be done of a write; lines_work_free()
 * @text: @len bytes: @old that were kept before, then the write
 * @run:  bytes of @text that are whole lines, or one that may run without its
 *        newline; the rest is the start of the next line
 */
struct lines_work {
	char *text;
	size_t len;
	size_t old;
	size_t run;
};

/**
 * lines_add() - a write came
 * @needs: NULL: no command needs its newline
 * @work:  out: on success
 *
 * Nothing is kept afterwards: once all that runs has succeeded, the rest goes
 * to lines_keep(). Also a write that is refused takes along the line it would
 * have gone on with.
 *
 * Return: 0; -E2BIG the write or its first line is too long; -EINVAL a NUL
 * byte; -ENOMEM.
 */
int lines_add(struct lines *l, const char *text, size_t len,
	      lines_needs_fn needs, struct lines_work *work);

/**
 * lines_keep() - the rest of @work, for the next write
 * Return: 0; -E2BIG; -ENOMEM.
 */
int lines_keep(struct lines *l, const struct lines_work *work);

/**
 * lines_answer() - what a write(2) is to be told
 * @done:   bytes of @work->text whose lines succeeded
 * @result: of the line behind them, 0 if there is none
 *
 * Return: bytes of the write, or @result if there are none.
 */
long lines_answer(const struct lines_work *work, size_t done, int result);

/**
 * lines_end() - the file is closed: what is kept is a line
 * @work: out: @run is 0 if nothing was kept
 *
 * Return: 0; -EINVAL it needs its newline: dropped.
 */
int lines_end(struct lines *l, lines_needs_fn needs, struct lines_work *work);

void lines_work_free(struct lines_work *work);

/** lines_free() - drop what is kept */
void lines_free(struct lines *l);

#endif /* K80FS_LINES_H */
