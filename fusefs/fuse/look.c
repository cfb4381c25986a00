/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/look.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

struct look {
	const char *path;
	int fuse_fd;
	struct stat *st;
	int ret;
};

static void *look(void *arg)
{
	struct look *l = arg;

	/* from here on this thread has descriptors of its own: none */
	if (unshare(CLONE_FILES)) {
		l->ret = -errno;
		return NULL;
	}
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3, ~0u, 0))
#endif
		close(l->fuse_fd);
	l->ret = stat(l->path, l->st) ? -errno : 0;
	return NULL;
}

int fs_look(const char *path, int fuse_fd, struct stat *st)
{
	struct look l = { .path = path, .fuse_fd = fuse_fd, .st = st };
	pthread_t thread;
	int ret;

	ret = -pthread_create(&thread, NULL, look, &l);
	if (ret)
		return ret;
	pthread_join(thread, NULL);
	return l.ret;
}
