// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz SECONDS SEED [GID] - random ioctls, sizes, flags, pointers and mappings
 *
 * With a GID as an ordinary user of that group. The reset flag is masked in
 * nine of ten calls, for a reset takes a second. Every call must return, with
 * an errno that the contract knows.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libbs.h"

#define FILES  4
#define NOBODY 65534

static const unsigned long numbers[] = {
	BAR_SWAP_QUERY,    BAR_SWAP_ACQUIRE, BAR_SWAP_RELEASE, BAR_SWAP_VERSION,
	BAR_SWAP_DIE_INFO, BAR_SWAP_UNLEASE, BAR_SWAP_CHECK,
};

static const int expected[] = { 0,      EBUSY,  EINVAL, ENODEV, EIO,   EPERM,
				EFAULT, ENOTTY, EINTR,  ENOMEM, EACCES };

static int fds[FILES];
static unsigned long calls, unexpected;

static unsigned long pick_number(void)
{
	unsigned long nr = numbers[random() % 7];

	switch (random() % 8) {
	case 0: /* another size, direction or number */
		return nr ^ (1ul << (random() % 32));
	case 1:
		return random();
	default:
		return nr;
	}
}

static void fill(uint32_t *buf, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++)
		buf[i] = random() % 3 ? 0 : (uint32_t)random() << 1;
	buf[0] = random() % 4 ? random() % 7 : (uint32_t)random() << 1;
	buf[1] = random() % 3 ? 1u << (random() % 6) : buf[1];
	if (random() % 10)
		buf[1] &= ~BS_ACQUIRE_FORCE_SBR;
	/* a wait for a lease of our own would be for ever */
	buf[1] |= BS_ACQUIRE_NOWAIT;
}

static void *pick_pointer(void *good)
{
	switch (random() % 12) {
	case 0:
		return NULL;
	case 1:
		return (void *)(random() << 13);
	case 2:
		return (void *)(~0ul << 47 | (unsigned long)random());
	case 3:
		return (char *)good + 1;
	default:
		return good;
	}
}

static void note(int error, unsigned long nr)
{
	size_t i;

	calls++;
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (error == expected[i])
			return;
	if (unexpected++ < 5)
		printf("# ioctl %lx: %s\n", nr, strerror(error));
}

static void one_map(int fd)
{
	size_t len = (1 + random() % 4) * 4096;
	off_t off = (off_t)(random() % 8) << 40 | (off_t)(random() % (13 << 18))
							  << 12;
	void *p = mmap(NULL, len, random() % 4,
		       random() % 4 ? MAP_SHARED : MAP_PRIVATE, fd, off);
	uint64_t val;

	note(p == MAP_FAILED ? errno : 0, 0);
	if (p == MAP_FAILED)
		return;
	/* a protection that forbids it would be SIGSEGV, no matter of ours */
	if (!mprotect(p, len, PROT_READ))
		touch_get(p, &val);
	munmap(p, len);
}

static void one_call(void)
{
	/* room around it: a wild size must not be a fault of our own */
	static uint32_t buf[8192];
	int *fd = &fds[random() % FILES];
	unsigned long nr = pick_number();

	if (random() % 50 == 0) {
		close(*fd);
		*fd = open("/dev/bar_swap", O_RDWR | O_NONBLOCK);
		if (*fd < 0)
			err(2, "reopen");
	}
	if (random() % 8 == 0)
		return one_map(*fd);
	fill(buf, 16);
	note(ioctl(*fd, nr, pick_pointer(buf)) < 0 ? errno : 0, nr);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 5;
	unsigned int seed = argc > 2 ? atoi(argv[2]) : 1, i;
	int64_t end = now_us() + seconds * 1000000ll;
	gid_t gid = argc > 3 ? atoi(argv[3]) : 0;

	if (gid && (setgroups(1, &gid) || setgid(gid) || setuid(NOBODY)))
		err(2, "setgid");
	for (i = 0; i < FILES; i++) {
		fds[i] = open("/dev/bar_swap", O_RDWR | O_NONBLOCK);
		if (fds[i] < 0)
			err(2, "open");
	}
	printf("# seed %u\n", seed);
	srandom(seed);
	while (now_us() < end)
		one_call();
	printf("# %lu calls\n", calls);
	say(calls > 100, "random calls as %s all return",
	    gid ? "a user of the group" : "root");
	say_is(unexpected, 0, "with errors of the contract");
	return say_status();
}
