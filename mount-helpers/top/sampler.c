/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/sampler.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "top/sample.h"

static void serve(int fd, const char *dir)
{
	static struct top_sample sample;
	char byte;

	/* the keys of the terminal are for who draws on it */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (recv(fd, &byte, 1, 0) == 1) {
		sample_take(dir, &sample);
		if (send(fd, &sample, sizeof(sample), MSG_NOSIGNAL) < 0)
			break;
	}
}

/* Without asking the file system: it may be the one that hangs. */
static int make_absolute(const char *dir, char *path, size_t size)
{
	char here[PATH_MAX];
	int n;

	if (*dir == '/')
		n = snprintf(path, size, "%s", dir);
	else if (getcwd(here, sizeof(here)))
		n = snprintf(path, size, "%s/%s", here, dir);
	else
		return -errno;
	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int sampler_start(const char *dir)
{
	char path[PATH_MAX];
	int fds[2], ret;
	pid_t child;

	ret = make_absolute(dir, path, sizeof(path));
	if (ret)
		return ret;
	if (chdir("/"))
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	child = fork();
	if (child < 0) {
		ret = -errno;
		close(fds[0]);
		close(fds[1]);
		return ret;
	}
	if (!child) {
		close(fds[0]);
		serve(fds[1], path);
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

int sampler_ask(int fd)
{
	return send(fd, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int sampler_get(int fd, struct top_sample *out)
{
	ssize_t n;

	do {
		n = recv(fd, out, sizeof(*out), 0);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*out))
		return 0;
	return n < 0 ? -errno : -ECHILD;
}
