/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of others on a terminal: nothing in them drives it, and what is to be
 * run can be pasted.
 */
#ifndef K80FS_QUOTE_H
#define K80FS_QUOTE_H

#include <stdio.h>

/** quote_plain() - the text as it is, with "?" for control characters */
void quote_plain(FILE *f, const char *s);

/**
 * quote_word() - the text as one word of a shell's command line
 *
 * In quotes if it needs them, in those of bash ($'...') if it has control
 * characters.
 */
void quote_word(FILE *f, const char *s);

/** quote_line() - a formatted line, its end added, like quote_plain() */
void quote_line(FILE *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* K80FS_QUOTE_H */
