/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/try.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/program.h"

#define PROGRAM     "k80-worker"
#define PATIENCE_MS (120 * 1000)
#define LAST_MS     5000 /* from its last word, or a kill, to its end */
#define ITS_FD      3 /* what the memory is called there */

extern char **environ;

static int spawn(int fd, int out, char *const *args, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char path[PATH_MAX];
	sigset_t none;
	int ret;

	ret = program_find(PROGRAM, path);
	if (ret)
		return ret;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, ITS_FD);
	posix_spawn_file_actions_addclosefrom_np(&actions, ITS_FD + 1);
	ret = -posix_spawn(pid, path, &actions, &attr, args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

/* A descriptor that nothing is copied over before it is copied itself. */
static int move_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, ITS_FD + 1);
}

static int start(int fd, uint64_t len, const uint8_t uuid[16], int out, pid_t *pid)
{
	char its_fd[16], id[33], size[24];
	char *args[] = { PROGRAM, "--try", its_fd, id, size, NULL };
	int from = move_up(fd), to = move_up(out);
	int ret;

	snprintf(its_fd, sizeof(its_fd), "%d", ITS_FD);
	snprintf(size, sizeof(size), "%" PRIu64, len);
	for (size_t i = 0; i < 16; i++)
		sprintf(id + 2 * i, "%02x", uuid[i]);
	ret = from < 0 || to < 0 ? -errno : spawn(from, to, args, pid);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return ret;
}

/* One line; false: it did not come in time. */
static bool take_line(int fd, char *line, size_t size)
{
	uint64_t until = now_ns() + PATIENCE_MS * NSEC_PER_MSEC;
	size_t at = 0;

	line[0] = '\0';
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = now_ns();
		ssize_t n;

		if (now >= until ||
		    !poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1))
			return false;
		n = read(fd, line + at, size - 1 - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
		line[at] = '\0';
	}
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* One that is killed may be in a call that does not end: it is left then. */
static int await(pid_t pid, uint64_t patience_ms)
{
	const struct timespec nap = { .tv_nsec = NSEC_PER_MSEC };
	uint64_t until = now_ns() + patience_ms * NSEC_PER_MSEC;
	int status;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) != pid) {
		if ((got < 0 && errno != EINTR) || now_ns() >= until)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return status ? -EIO : 0;
}

static int judge(bool is_in_time, int ended, const char *line, uint64_t *word,
		 char *why, size_t size)
{
	char *end;

	if (!is_in_time) {
		snprintf(why, size, "%s --try hangs", PROGRAM);
		return -ETIMEDOUT;
	}
	*word = strtoull(line, &end, 16);
	if (!ended && end == line + 16 && !*end)
		return 0;
	snprintf(why, size, "%s",
		 ended && *line ? line : PROGRAM " --try ended without a word");
	return -EIO;
}

int owner_try_import(int fd, uint64_t len, const uint8_t uuid[16],
		     uint64_t *word, char *why, size_t size)
{
	bool is_in_time;
	char line[256];
	int out[2], ret;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC)) {
		ret = -errno;
		snprintf(why, size, "pipe: %s", strerror(-ret));
		return ret;
	}
	ret = start(fd, len, uuid, out[1], &pid);
	close(out[1]);
	if (ret) {
		snprintf(why, size, "%s: %s", PROGRAM, strerror(-ret));
		close(out[0]);
		return ret;
	}
	is_in_time = take_line(out[0], line, sizeof(line));
	close(out[0]);
	if (!is_in_time)
		kill(pid, SIGKILL);
	ret = await(pid, LAST_MS);
	return judge(is_in_time, ret, line, word, why, size);
}
