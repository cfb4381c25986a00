/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CLOCK_MONOTONIC for tests: stands still until it is told to move.
 *
 * Link with -Wl,--wrap=clock_gettime. While it is off, and for other clocks,
 * calls go to the system.
 */
#ifndef MOCK_CLOCK_H
#define MOCK_CLOCK_H

#include <stdint.h>

/** mock_clock_start() - from now on the clock says @ns, not 0 */
void mock_clock_start(uint64_t ns);

/**
 * mock_clock_advance() - move it; any thread
 *
 * By less than an hour in one test: Check times tests on this clock and cannot
 * report more than 4294 s.
 */
void mock_clock_advance(uint64_t ns);

/** mock_clock_tick() - from now on it moves by @ns whenever it is looked at */
void mock_clock_tick(uint64_t ns);

/** mock_clock_stop() - the system's clock again */
void mock_clock_stop(void);

#endif /* MOCK_CLOCK_H */
