// SPDX-License-Identifier: GPL-2.0-or-later
#include "mock_ioctl.h"

#include <check.h>
#include <errno.h>
#include <linux/ioctl.h>
#include <stdarg.h>
#include <string.h>

int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_ioctl(int fd, unsigned long request, ...);

static struct {
	bool is_on;
	int first_fd; /* -1: no call yet */
	const struct mock_ioctl_call *next;
	size_t n_left;
} mock;

void mock_ioctl_start(void)
{
	mock.is_on = true;
	mock.first_fd = -1;
	mock.next = NULL;
	mock.n_left = 0;
}

void mock_ioctl_expect(const struct mock_ioctl_call *calls, size_t n)
{
	ck_assert_uint_eq(mock.n_left, 0);
	mock.next = calls;
	mock.n_left = n;
}

size_t mock_ioctl_left(void)
{
	return mock.n_left;
}

void mock_ioctl_stop(void)
{
	mock.is_on = false;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct mock_ioctl_call *call = mock.next;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (!mock.is_on)
		return __real_ioctl(fd, request, arg);

	ck_assert_msg(mock.n_left, "unexpected ioctl %#lx", request);
	mock.next++;
	mock.n_left--;
	ck_assert_uint_eq(request, call->request);
	if (mock.first_fd < 0)
		mock.first_fd = fd;
	ck_assert_int_eq(fd != mock.first_fd, call->other_fd);
	if (call->in)
		ck_assert_mem_eq(arg, call->in, _IOC_SIZE(request));
	if (call->out)
		memcpy(arg, call->out, _IOC_SIZE(request));
	errno = call->error;
	return call->error ? -1 : 0;
}
