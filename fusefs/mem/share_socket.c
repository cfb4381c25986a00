/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/share_socket.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "k80mem/wire.h"

#define BACKLOG 64
#define PREFIX  "share."
#define SUFFIX  ".sock"

static bool is_ours(const char *name)
{
	size_t len = strlen(name);

	return !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       len > strlen(PREFIX) + strlen(SUFFIX) &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

/* A socket whose listener has died refuses; one that is made gets its name when
 * it listens. */
static void remove_if_dead(const char *dir, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, len;

	len = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name);
	if (len >= (int)sizeof(addr.sun_path))
		return;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	    errno == ECONNREFUSED)
		unlink(addr.sun_path);
	close(fd);
}

static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_ours(e->d_name))
			remove_if_dead(dir, e->d_name);
	if (d)
		closedir(d);
}

static int listen_as(int fd, const struct sockaddr_un *fresh, const char *path)
{
	if (bind(fd, (const struct sockaddr *)fresh, sizeof(*fresh)))
		return -errno;
	if (chmod(fresh->sun_path, 0666) || listen(fd, BACKLOG) ||
	    rename(fresh->sun_path, path)) {
		int ret = -errno;

		unlink(fresh->sun_path);
		return ret;
	}
	return 0;
}

int share_listen(const char *dir, char path[SHARE_PATH_LEN])
{
	struct sockaddr_un fresh = { .sun_family = AF_UNIX };
	char wanted[SHARE_PATH_LEN];
	uint32_t salt;
	int fd, ret;

	/* two of one number may see this folder from different namespaces */
	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	if (snprintf(wanted, sizeof(wanted), "%s/" PREFIX "%d.%08x" SUFFIX, dir,
		     (int)getpid(), salt) >= (int)sizeof(wanted))
		return -ENAMETOOLONG;
	snprintf(fresh.sun_path, sizeof(fresh.sun_path),
		 "%s/" PREFIX "%d.%08x.new", dir, (int)getpid(), salt);
	sweep(dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = listen_as(fd, &fresh, wanted);
	if (ret) {
		close(fd);
		return ret;
	}
	memcpy(path, wanted, sizeof(wanted));
	return fd;
}

int share_receive(int fd, void *msg, size_t len)
{
	/* no control buffer: the kernel lets go of what came with it */
	ssize_t n = recv(fd, msg, len, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return -errno;
	if (!n)
		return -EPIPE;
	return (size_t)n == len ? 0 : -EPROTO;
}

int share_send(int fd, const void *msg, size_t len, const int *fds, size_t n)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * K80_BATCH_MAX)];
	} control = { 0 };
	struct iovec iov = { (void *)msg, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	}
	if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == EAGAIN ? -ENOBUFS : -errno;
}
