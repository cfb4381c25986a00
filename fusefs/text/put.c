/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/put.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/util.h"

void put(struct text *t, const char *fmt, ...)
{
	size_t room = t->room - t->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += MIN((size_t)n, room - 1);
}
