/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base/ - what every file may use: util.h and the log.
 * May use: the C library.
 * Must not know: dies, files, anything of this project.
 *
 * Small things every file may use: sizes, time, cleanup and lock annotations.
 */
#ifndef K80FS_UTIL_H
#define K80FS_UTIL_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define KIB           ((uint64_t)1 << 10)
#define MIB           ((uint64_t)1 << 20)
#define GIB           ((uint64_t)1 << 30)
#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC  1000000000ULL

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* both sides of one type; do not nest */
#define MIN(a, b)                                  \
	({                                         \
		__typeof__(a) min_a_ = (a);        \
		__typeof__(b) min_b_ = (b);        \
		min_a_ < min_b_ ? min_a_ : min_b_; \
	})

#define MAX(a, b)                                  \
	({                                         \
		__typeof__(a) max_a_ = (a);        \
		__typeof__(b) max_b_ = (b);        \
		max_a_ > max_b_ ? max_a_ : max_b_; \
	})

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

/* nanoseconds of CLOCK_MONOTONIC */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Lock annotations, checked by clang -Wthread-safety; nothing elsewhere. */
#ifdef __clang__
#define REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define EXCLUDES(...) __attribute__((locks_excluded(__VA_ARGS__)))
#define ACQUIRES(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASES(...) __attribute__((release_capability(__VA_ARGS__)))
#define CAPABILITY    __attribute__((capability("mutex")))
#define NO_TSA        __attribute__((no_thread_safety_analysis))
#else
#define REQUIRES(...)
#define EXCLUDES(...)
#define ACQUIRES(...)
#define RELEASES(...)
#define CAPABILITY
#define NO_TSA
#endif

#endif /* K80FS_UTIL_H */
