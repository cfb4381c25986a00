// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded before the daemon: the simulator clears by punching holes, which takes
 * no time. Here it takes as long as clearing a card's memory does.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <time.h>

#define BYTES_PER_NS 6.5

int fallocate(int fd, int mode, off_t off, off_t len)
{
	static int (*next)(int fd, int mode, off_t off, off_t len);
	long long ns = (long long)((double)len / BYTES_PER_NS);
	struct timespec nap = { ns / 1000000000, ns % 1000000000 };

	if (!next)
		next = (int (*)(int, int, off_t, off_t))dlsym(RTLD_NEXT,
							      "fallocate");
	if (mode & FALLOC_FL_PUNCH_HOLE)
		nanosleep(&nap, NULL);
	return next(fd, mode, off, len);
}
