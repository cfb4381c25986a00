// SPDX-License-Identifier: GPL-2.0-or-later
#include "mock_clock.h"

#include <stdatomic.h>
#include <time.h>

#include "base/util.h"

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __real_clock_gettime(clockid_t id, struct timespec *ts);

static _Atomic uint64_t mock_ns; /* 0: off */
static _Atomic uint64_t mock_tick;

void mock_clock_start(uint64_t ns)
{
	mock_tick = 0;
	mock_ns = ns;
}

void mock_clock_advance(uint64_t ns)
{
	mock_ns += ns;
}

void mock_clock_tick(uint64_t ns)
{
	mock_tick = ns;
}

void mock_clock_stop(void)
{
	mock_ns = 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns = mock_ns;

	if (!ns || id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, ts);
	if (mock_tick)
		mock_ns += mock_tick;
	ts->tv_sec = (time_t)(ns / NSEC_PER_SEC);
	ts->tv_nsec = (long)(ns % NSEC_PER_SEC);
	return 0;
}
