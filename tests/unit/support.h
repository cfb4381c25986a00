/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several unit tests need and Check does not have. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SUPPORT_WAIT_MS 10000

/**
 * support_wait_until() - wait for a condition another thread makes true
 * @condition: looked at every millisecond
 *
 * Fails the test after SUPPORT_WAIT_MS.
 */
#define support_wait_until(condition)                                        \
	do {                                                                 \
		int left_ms_ = SUPPORT_WAIT_MS;                              \
                                                                             \
		while (!(condition)) {                                       \
			ck_assert_msg(left_ms_-- > 0, "never: " #condition); \
			support_nap();                                       \
		}                                                            \
	} while (0)

/**
 * support_assert() - ck_assert() for inner loops
 *
 * ck_assert() tells the runner about each passed check, by a system call or
 * more; this one is silent until it fails.
 */
#define support_assert(condition)                            \
	do {                                                 \
		if (!(condition))                            \
			ck_abort_msg("not so: " #condition); \
	} while (0)

/** support_nap() - sleep for a millisecond */
void support_nap(void);

/** support_tempdir() - make a folder; for support_remove(). Never NULL */
char *support_tempdir(void);

/** support_remove() - delete a folder of support_tempdir() and free its name */
void support_remove(char *dir);

/** support_n_entries() - number of names in a folder, without . and .. */
int support_n_entries(const char *dir);

/** support_path() - "DIR/NAME" in a buffer that the next call overwrites */
const char *support_path(const char *dir, const char *name);

/**
 * support_peek() - the byte at @addr, read beside whoever remaps it
 *
 * ThreadSanitizer takes mmap() for a write that this races with.
 */
char support_peek(const volatile void *addr);

/** support_faults() - does reading the byte at @addr raise SIGBUS? */
bool support_faults(const volatile void *addr);

/**
 * support_random() - the next number of a sequence that a seed fixes
 * @state: the seed, not 0; changed
 * @below: not 0
 *
 * Return: 0 .. @below - 1.
 */
uint64_t support_random(uint64_t *state, uint64_t below);

#endif /* SUPPORT_H */
