/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "k80mem/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "k80mem/k80mem.h"

static _Thread_local char line[512];

void k80mem_clear(void)
{
	*line = '\0';
}

int k80mem_fail(int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return ret;
}

const char *k80_error(void)
{
	return line;
}
