/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line that says why a call failed, of each thread. */
#ifndef K80MEM_ERROR_H
#define K80MEM_ERROR_H

/** k80mem_clear() - nothing has failed yet */
void k80mem_clear(void);

/** k80mem_fail() - set the line; returns @ret */
int k80mem_fail(int ret, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* K80MEM_ERROR_H */
