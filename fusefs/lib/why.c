// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/why.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/barswap.h"

static __thread char why[PATH_MAX + 128];

void why_clear(void)
{
	*why = '\0';
}

void why_set(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
}

const char *bs_init_why(void)
{
	return why;
}
