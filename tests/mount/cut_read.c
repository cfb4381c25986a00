// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded before the daemon: a connection that is over gives ECONNABORTED
 * instead of ENODEV, as it does to a thread that is just taking a request.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

ssize_t read(int fd, void *buf, size_t len)
{
	static ssize_t (*next)(int fd, void *buf, size_t len);
	ssize_t n;

	if (!next)
		next = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	n = next(fd, buf, len);
	if (n < 0 && errno == ENODEV)
		errno = ECONNABORTED;
	return n;
}
