// SPDX-License-Identifier: GPL-2.0-or-later
#include "libbs.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define DEVICE "/dev/bar_swap"

int bs_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(2, DEVICE);
	return fd;
}

static int call(int fd, unsigned long nr, void *arg)
{
	return ioctl(fd, nr, arg) ? -errno : 0;
}

int bs_acquire(int fd, unsigned int die, unsigned int flags)
{
	struct bs_acquire_req req = { .die_id = die, .flags = flags };

	return call(fd, BAR_SWAP_ACQUIRE, &req);
}

int bs_release_flags(int fd, unsigned int die, unsigned int flags)
{
	struct bs_release_req req = { .die_id = die, .flags = flags };

	return call(fd, BAR_SWAP_RELEASE, &req);
}

int bs_release(int fd, unsigned int die)
{
	return bs_release_flags(fd, die, 0);
}

int bs_unlease(int fd, unsigned int die)
{
	struct bs_release_req req = { .die_id = die };

	return call(fd, BAR_SWAP_UNLEASE, &req);
}

int bs_query(int fd, struct bs_query_info *q)
{
	return call(fd, BAR_SWAP_QUERY, q);
}

int bs_info(int fd, unsigned int die, struct bs_die_info *info)
{
	*info = (struct bs_die_info){ .die_id = die };
	return call(fd, BAR_SWAP_DIE_INFO, info);
}

int bs_check(int fd, unsigned int die, struct bs_check *check)
{
	*check = (struct bs_check){ .die_id = die };
	return call(fd, BAR_SWAP_CHECK, check);
}

unsigned int bs_active(int fd)
{
	struct bs_query_info q;

	if (bs_query(fd, &q))
		err(2, "QUERY");
	return q.active_die;
}

volatile void *bs_map(int fd, unsigned int die, uint64_t off, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)((uint64_t)die << BS_MMAP_DIE_SHIFT | off));

	return p == MAP_FAILED ? NULL : p;
}
