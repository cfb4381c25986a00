/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static const char *complaint(const struct stat *st)
{
	if (!S_ISFIFO(st->st_mode) && !S_ISREG(st->st_mode))
		return "neither a FIFO nor a file";
	if (st->st_uid != geteuid())
		return "it is somebody else's";
	if (st->st_mode & OTHERS_WRITE)
		return "others may write to it";
	return NULL;
}

/* The same FIFO once more, for both ways. */
static int reopen(int fd)
{
	char path[64];
	int both;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	both = open(path, O_RDWR | O_CLOEXEC);
	if (both < 0)
		both = -errno;
	close(fd);
	return both;
}

int input_open(const char *path, char *why, size_t len)
{
	const char *what;
	struct stat st;
	int fd;

	if (mkfifo(path, 0600) && errno != EEXIST) {
		int ret = -errno;

		snprintf(why, len, "%s: %s", path, strerror(-ret));
		return ret;
	}
	/* looked at before anything can wait for it */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		int ret = -errno;

		snprintf(why, len, "%s: %s", path, strerror(-ret));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	what = complaint(&st);
	if (what) {
		snprintf(why, len, "%s: refused: %s", path, what);
		close(fd);
		return -EPERM;
	}
	if (S_ISFIFO(st.st_mode)) {
		fd = reopen(fd);
		if (fd < 0)
			snprintf(why, len, "%s: %s", path, strerror(-fd));
	}
	return fd;
}
