// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks, the clock, and touches that may give SIGBUS. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "libbs.h"

static bool failed;
static sigjmp_buf back;

static void on_sigbus(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void catch_sigbus(void)
{
	struct sigaction sa = { .sa_handler = on_sigbus };

	sigaction(SIGBUS, &sa, NULL);
}

bool touch_get(const volatile void *p, uint64_t *val)
{
	catch_sigbus();
	if (sigsetjmp(back, 1))
		return false;
	*val = *(const volatile uint64_t *)p;
	return true;
}

bool touch_put(volatile void *p, uint64_t val)
{
	catch_sigbus();
	if (sigsetjmp(back, 1))
		return false;
	*(volatile uint64_t *)p = val;
	return true;
}

static bool say_v(bool good, const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	/* one write a line: children print too */
	printf("%s %s\n", good ? "ok" : "not ok", text);
	fflush(stdout);
	failed |= !good;
	return good;
}

bool say(bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(good, fmt, ap);
	va_end(ap);
	return good;
}

bool say_is(int64_t got, int64_t want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		printf("#   got %lld, want %lld\n", (long long)got,
		       (long long)want);
	fflush(stdout);
	return got == want;
}

int say_status(void)
{
	return failed;
}

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&t, NULL);
}
