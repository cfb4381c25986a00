/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

extern char **environ;

static int start(const char *const *args, int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawnp(pid, args[0], &actions, &attr, (char **)args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

/* To its end, though only the start is kept. */
static void take_output(int fd, char *out, size_t len)
{
	char rest[4096];
	size_t at = 0;
	ssize_t n;

	do {
		bool is_full = at + 1 >= len;

		n = read(fd, is_full ? rest : out + at,
			 is_full ? sizeof(rest) : len - 1 - at);
		if (n > 0 && !is_full)
			at += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	out[at] = '\0';
}

static int await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EIO : 0;
}

int program_run(const char *const *args, char *out, size_t len)
{
	int fds[2] = { -1, -1 };
	pid_t pid;
	int ret;

	if (out && pipe2(fds, O_CLOEXEC))
		return -errno;
	ret = start(args, out ? fds[1] : STDERR_FILENO, &pid);
	if (out)
		close(fds[1]);
	if (out && !ret)
		take_output(fds[0], out, len);
	if (out)
		close(fds[0]);
	return ret ? ret : await(pid);
}

int program_find(const char *name, char *path)
{
	static const char *const places[] = { "", "/../libexec/k80fs" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (snprintf(path, PATH_MAX, "%s%s/%s", self, places[i], name) <
			    PATH_MAX &&
		    !access(path, X_OK))
			return 0;
	}
	return -ENOENT;
}
