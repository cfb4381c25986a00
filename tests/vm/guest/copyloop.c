// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * copyloop DIE - copy out of a die until something ends it
 *
 * Prints "copying" after the first chunk, then, when it ends, one of: "BUS"
 * (the mapping went away), "dead" (the check after a chunk says that the die
 * does not answer), "out" (it is not in the slot any more), an errno, or
 * "timeout" after 30 s.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbs.h"

#define CHUNK    (1ul << 20)
#define LIMIT_US 30000000ll

static void on_sigbus(int sig)
{
	(void)sig;
	/* async-signal-safe, and nothing is left to do */
	if (write(STDOUT_FILENO, "BUS\n", 4) != 4)
		_exit(9);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int die = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int fd = bs_open(), ret = bs_acquire(fd, die, 0);
	static uint8_t bounce[CHUNK];
	struct bs_check c;
	int64_t start = now_us();
	bool first = true;
	volatile void *p;

	if (ret)
		errx(2, "acquire: %s", strerror(-ret));
	p = bs_map(fd, die, 0, CHUNK);
	if (!p)
		err(2, "mmap");
	signal(SIGBUS, on_sigbus);
	while (now_us() - start < LIMIT_US) {
		memcpy(bounce, (void *)p, CHUNK);
		if (first) {
			puts("copying");
			fflush(stdout);
		}
		first = false;
		ret = bs_check(fd, die, &c);
		if (ret)
			return puts(strerrorname_np(-ret)) < 0;
		if (!c.in_slot)
			return puts("out") < 0;
		if (!c.alive)
			return puts("dead") < 0;
	}
	return puts("timeout") < 0;
}
