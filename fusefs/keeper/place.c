/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper/client.h"
#include "keeper/serve.h"

/* The lock is the open file's: it ends with the process, however that ends. */
static int take_lock(const char *path, char *why, size_t len)
{
	char name[PATH_MAX], pid[32] = "";
	int fd, ret;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		/* for whoever finds it locked */
		dprintf(fd, "%d\n", (int)getpid());
		return 0;
	}
	ret = errno == EWOULDBLOCK ? -EEXIST : -errno;
	if (read(fd, pid, sizeof(pid) - 1) < 0)
		*pid = '\0';
	pid[strcspn(pid, "\n")] = '\0';
	if (ret == -EEXIST)
		snprintf(why, len, "%s is the place of process %s", path,
			 *pid ? pid : "?");
	close(fd);
	return ret;
}

static int listen_at(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	strcpy(name.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (!bind(fd, (struct sockaddr *)&name, sizeof(name)) &&
	    !listen(fd, SERVE_MAX_CLIENTS))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int place_open(const char *path, char *why, size_t len)
{
	mode_t before = umask(0022);
	int ret = 0;

	*why = '\0';
	/* where systemd runs it is its unit's RuntimeDirectory= */
	if (!strcmp(path, KEEPER_SOCKET) && mkdir("/run/k80fs", 0755) &&
	    errno != EEXIST)
		ret = -errno;
	umask(0177);
	if (!ret)
		ret = take_lock(path, why, len);
	if (!ret)
		ret = listen_at(path);
	umask(before);
	if (ret < 0 && !*why)
		snprintf(why, len, "%s: %s", path, strerror(-ret));
	return ret;
}

void place_close(const char *path)
{
	unlink(path);
}
