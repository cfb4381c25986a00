// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *out;

static void line(FILE *f, const char *fmt, va_list ap)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	flockfile(f);
	fprintf(f, "%lld.%06ld ", (long long)t.tv_sec, t.tv_nsec / 1000);
	vfprintf(f, fmt, ap);
	fputc('\n', f);
	fflush(f);
	funlockfile(f);
}

void log_open(const char *path)
{
	out = fopen(path, "we");
	if (!out)
		log_die("%s: %s", path, strerror(errno));
}

void log_line(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(out ? out : stderr, fmt, ap);
	va_end(ap);
}

void log_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(stderr, fmt, ap);
	va_end(ap);
	exit(1);
}
