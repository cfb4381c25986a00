/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/leave.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/wire.h"

#define NODES "/dev/nvidia" /* what the driver's nodes begin with */

/* a die that cannot be put in is tried for so long */
#define TRIES      60
#define TRY_AGAIN  1 /* s */
#define STACK_SIZE 65536

/* ---- descriptors ----------------------------------------------------------- */

/* "/proc/self/fd/N" of a name in that folder; without the library's printf. */
static bool is_node(const char *number)
{
	char path[32] = "/proc/self/fd/", target[sizeof(NODES)];

	if (strlen(number) > 10)
		return false;
	strcat(path, number);
	return readlink(path, target, sizeof(target)) >= (ssize_t)strlen(NODES) &&
	       !memcmp(target, NODES, strlen(NODES));
}

static int number(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n = 10 * n + (*text - '0');
	return n;
}

static void close_nodes(void)
{
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n;

	while ((n = getdents64(dir, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e =
				(const struct dirent64 *)(buf + at);

			if (*e->d_name != '.' && is_node(e->d_name))
				close(number(e->d_name));
			at += e->d_reclen;
		}
	}
	close(dir);
}

/* ---- mappings -------------------------------------------------------------- */

static unsigned long hex(const char **text)
{
	unsigned long v = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			v = v << 4 | (unsigned long)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (unsigned long)(c - 'a' + 10);
		else
			return v;
	}
}

/* "START-END PERMS OFFSET DEV INODE   PATH" */
static void unmap_if_node(const char *line)
{
	const char *path = strchr(line, '/');
	unsigned long start, end;

	if (!path || strncmp(path, NODES, strlen(NODES)) != 0)
		return;
	start = hex(&line);
	line++;
	end = hex(&line);
	munmap((void *)start, end - start);
}

static void unmap_nodes(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char buf[8192], *line, *end;
	size_t have = 0;
	ssize_t n;

	/* the kernel gives whole lines, and none is as long as this */
	while ((n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		have += (size_t)n;
		buf[have] = '\0';
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			unmap_if_node(line);
		}
		have = strlen(line);
		memmove(buf, line, have);
	}
	close(fd);
}

/* ---- the die --------------------------------------------------------------- */

/* With a lease; a die that is gone for good has nothing to fear. */
static void put_in(struct leave *l)
{
	const struct timespec again = { .tv_sec = TRY_AGAIN };

	for (int i = 0; i < TRIES; i++) {
		int ret = bs_acquire_flags(l->bs, l->die, BS_LEASE | BS_FORCE,
					   NULL);

		if (!ret || ret == -ENODEV)
			return;
		if (ret != -EINTR)
			nanosleep(&again, NULL);
	}
}

/* A thread of libcuda that misses a mapping is to wait for the end, not to be
 * it. */
static void park(int sig)
{
	(void)sig;
	for (;;)
		pause();
}

void leave_die(struct leave *l)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGABRT };
	const struct sigaction parked = { .sa_handler = park };

	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		sigaction(fatal[i], &parked, NULL);
	if (l->bs) {
		/* the lease of a caller that has ended may live in it alone */
		close(WIRE_LEASE);
		put_in(l);
	}
	close_nodes();
	unmap_nodes();
	if (l->bs)
		bs_unlease(l->bs, l->die);
	l->is_done = 1;
}

/* ---- the anchor ------------------------------------------------------------ */

/*
 * Runs in the memory of the process that it waits for, with the thread-local
 * data of its first thread. So it makes system calls only, none of which fails
 * before that process has ended: signals are blocked, errno is not its own.
 */
static int anchor(void *arg)
{
	struct leave *l = arg;
	struct pollfd ended = { .fd = l->pidfd, .events = POLLIN };

	while (poll(&ended, 1, -1) != 1)
		;
	if (!l->is_done) {
		/* else it is open as long as we are, and a call waits on */
		shutdown(WIRE_SOCKET, SHUT_RDWR);
		/* with a lease, if that process was leaving */
		close(bs_lease_fd(l->bs));
		l->bs = l->spare;
		leave_die(l);
	}
	_exit(0);
}

int leave_anchor(struct leave *l)
{
	static char stack[STACK_SIZE] __attribute__((aligned(16)));
	sigset_t all, before;
	int pid;

	l->pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (l->pidfd < 0)
		return -errno;
	/* a core dump would end every process that shares the memory */
	prctl(PR_SET_DUMPABLE, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = clone(anchor, stack + sizeof(stack),
		    CLONE_VM | CLONE_FILES | CLONE_PARENT | SIGCHLD, l);
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}
