/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/quote.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Length of the control character that the text begins with, or 0; those of
 * ISO 8859-1 are two bytes in UTF-8. */
static size_t control(const char *s)
{
	unsigned char c = (unsigned char)s[0], next;

	if (c && (c < 0x20 || c == 0x7f))
		return 1;
	next = c == 0xc2 ? (unsigned char)s[1] : 0;
	return next >= 0x80 && next <= 0x9f ? 2 : 0;
}

void quote_plain(FILE *f, const char *s)
{
	while (*s) {
		size_t len = control(s);

		fputc(len ? '?' : *s, f);
		s += len ? len : 1;
	}
}

static bool has_control(const char *s)
{
	while (*s && !control(s))
		s++;
	return *s;
}

static void put_escaped(FILE *f, const char *s)
{
	fputs("$'", f);
	while (*s) {
		size_t len = control(s);

		for (size_t i = 0; i < len; i++)
			fprintf(f, "\\%03o", (unsigned char)s[i]);
		if (len) {
			s += len;
			continue;
		}
		if (*s == '\'' || *s == '\\')
			fputc('\\', f);
		fputc(*s++, f);
	}
	fputc('\'', f);
}

void quote_word(FILE *f, const char *s)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz"
				   "0123456789_@%+=:,./-";

	if (has_control(s)) {
		put_escaped(f, s);
		return;
	}
	if (*s && !s[strspn(s, safe)]) {
		fputs(s, f);
		return;
	}
	fputc('\'', f);
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", f);
		else
			fputc(*s, f);
	fputc('\'', f);
}

void quote_line(FILE *f, const char *fmt, ...)
{
	char *line = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	quote_plain(f, len < 0 ? "out of memory" : line);
	fputc('\n', f);
	if (len >= 0)
		free(line);
}
