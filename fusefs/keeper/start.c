/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper/client.h"

#define PROGRAM "k80-keeper"
#define UNIT    PROGRAM ".service"

/* between two looks at a process that ends */
#define LOOK_NS (5 * NSEC_PER_MSEC)

extern char **environ;

static int find_program(char *path)
{
	static const char *const places[] = { "/" PROGRAM, "/../sbin/" PROGRAM };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX &&
		    !access(path, X_OK))
			return 0;
	return -ENOENT;
}

/* Nothing of ours is open there but @err, as its standard error. */
static int spawn(const char *const *args, int err, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDWR, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
					 O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr,
				 POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawnp(pid, args[0], &actions, &attr, (char **)args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

/* The first line, until all who can write have ended or the time is over. */
static void take_line(int fd, uint64_t until, char *line, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t at = 0;
	ssize_t n = 1;

	while (n > 0 && now_ns() < until) {
		int ms = (int)((until - now_ns()) / NSEC_PER_MSEC) + 1;
		char rest[256];
		bool is_full = at + 1 >= len;

		if (poll(&pfd, 1, ms) <= 0)
			continue;
		n = read(fd, is_full ? rest : line + at,
			 is_full ? sizeof(rest) : len - 1 - at);
		if (n > 0 && !is_full)
			at += (size_t)n;
	}
	line[at] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

static int await(pid_t pid, uint64_t until)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	int status = 0;
	pid_t ret;

	while (!(ret = waitpid(pid, &status, WNOHANG)) && now_ns() < until)
		nanosleep(&look, NULL);
	if (!ret) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -ETIMEDOUT;
	}
	/* of a process that ignores SIGCHLD it is not known how they end */
	return ret > 0 && status ? -EIO : 0;
}

static int run(const char *const *args, char *why, size_t len)
{
	uint64_t until = now_ns() + START_PATIENCE_MS * NSEC_PER_MSEC;
	int fds[2], ret;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	ret = spawn(args, fds[1], &pid);
	close(fds[1]);
	if (!ret) {
		take_line(fds[0], until, why, len);
		ret = await(pid, until);
	}
	close(fds[0]);
	return ret;
}

static bool is_for_systemd(const char *path)
{
	return !geteuid() && !strcmp(path, KEEPER_SOCKET) &&
	       !access("/run/systemd/system", F_OK);
}

int start_keeper(const char *path, char *why, size_t len)
{
	static const char *const unit[] = { "systemctl", "--quiet", "start",
					    UNIT, NULL };
	char program[PATH_MAX];
	const char *const args[] = { program, "--socket", path, NULL };
	int ret;

	/* without the unit, or where it fails, it is started as elsewhere */
	if (is_for_systemd(path) && !run(unit, why, len))
		return 0;
	*why = '\0';
	ret = find_program(program);
	if (ret)
		snprintf(why, len,
			 PROGRAM ": neither beside this program nor in ../sbin");
	else
		ret = run(args, why, len);
	if (ret && !*why)
		snprintf(why, len, PROGRAM ": %s", strerror(-ret));
	return ret;
}
