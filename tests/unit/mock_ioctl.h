/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ioctl() for tests: calls are declared as data and consumed in order.
 *
 * Link with -Wl,--wrap=ioctl. While nothing is set up, calls go to the
 * system. A call that was not expected fails the test.
 */
#ifndef MOCK_IOCTL_H
#define MOCK_IOCTL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct mock_ioctl_call - one expected call
 * @request:  its number; the argument is as long as the number says
 * @other_fd: it comes on another descriptor than the first call did
 * @in:       what the argument must hold; NULL: not looked at
 * @out:      what the argument holds afterwards; NULL: left alone
 * @error:    errno it fails with, 0: it returns 0
 */
struct mock_ioctl_call {
	unsigned long request;
	bool other_fd;
	const void *in;
	const void *out;
	int error;
};

/** mock_ioctl_start() - from now on no call reaches the system */
void mock_ioctl_start(void);

/**
 * mock_ioctl_expect() - the next calls, after those already expected were made
 * @calls: @n of them; must live until they are consumed
 */
void mock_ioctl_expect(const struct mock_ioctl_call *calls, size_t n);

/** mock_ioctl_left() - number of expected calls that did not come yet */
size_t mock_ioctl_left(void);

/** mock_ioctl_stop() - calls go to the system again */
void mock_ioctl_stop(void);

#endif /* MOCK_IOCTL_H */
