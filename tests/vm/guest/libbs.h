/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /dev/bar_swap by its ioctls, and checks, for the guest's programs. */
#ifndef LIBBS_H
#define LIBBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/bar_swap.h"

/** bs_open() - a new open file of the device; ends the program if not */
int bs_open(void);

/** each of these: 0 or -errno */
int bs_acquire(int fd, unsigned int die, unsigned int flags);
int bs_release(int fd, unsigned int die);
int bs_release_flags(int fd, unsigned int die, unsigned int flags);
int bs_unlease(int fd, unsigned int die);
int bs_query(int fd, struct bs_query_info *q);
int bs_info(int fd, unsigned int die, struct bs_die_info *info);
int bs_check(int fd, unsigned int die, struct bs_check *check);

/** bs_active() - the die in the slot, BS_NO_DIE if vacant */
unsigned int bs_active(int fd);

/**
 * bs_map() - memory of a die
 * Return: the mapping, or NULL with errno set.
 */
volatile void *bs_map(int fd, unsigned int die, uint64_t off, size_t len);

/**
 * touch_get() - read a word that may not be there
 * @val: out: what was read
 *
 * Return: true; false if the access gave SIGBUS. For one thread at a time.
 */
bool touch_get(const volatile void *p, uint64_t *val);

/** touch_put() - write a word; false if the access gave SIGBUS */
bool touch_put(volatile void *p, uint64_t val);

/** say() - one check: prints "ok TEXT" or "not ok TEXT"; returns @good */
bool say(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** say_is() - check that two numbers are equal; says both if not */
bool say_is(int64_t got, int64_t want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** say_status() - exit status: 1 if any check failed */
int say_status(void);

/** now_us() - a monotonic clock */
int64_t now_us(void);

/** sleep_ms() */
void sleep_ms(unsigned int ms);

#endif /* LIBBS_H */
