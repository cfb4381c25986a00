/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-keeper: holds descriptors, and so GPU memory, for who may die.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper/client.h"
#include "keeper/kept.h"
#include "keeper/place.h"
#include "keeper/serve.h"

#define EXIT_USAGE 2

#define LINE_LEN 512

struct args {
	char path[PATH_MAX];
	bool is_status, is_foreground;
	const char *free;
};

static volatile sig_atomic_t is_ended;

/* ---- the keeper ------------------------------------------------------------ */

static void on_signal(int sig)
{
	(void)sig;
	is_ended = 1;
}

/* Signals that ask for the end come while it waits and at no other time. */
static void catch_signals(sigset_t *during)
{
	const struct sigaction end = { .sa_handler = on_signal };
	sigset_t ends;

	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	sigemptyset(during);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
}

static void raise_limits(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* it is small, and what it holds is dear; root alone may say so */
	if (fd >= 0 && write(fd, "-1000", 5) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

/* Nothing of whoever has started it is kept open or busy. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* @ready: told when it listens; -1: nobody waits. Returns the exit code. */
static int keep(const char *path, int ready)
{
	char why[LINE_LEN], code = EXIT_SUCCESS;
	sigset_t during;
	int fd, ret;

	catch_signals(&during);
	raise_limits();
	fd = place_open(path, why, sizeof(why));
	if (fd < 0)
		fprintf(stderr, "k80-keeper: %s\n", why);
	if (fd == -EEXIST)
		return EXIT_SUCCESS;
	if (fd < 0 || chdir("/"))
		return EXIT_FAILURE;
	if (ready >= 0) {
		detach();
		if (write(ready, &code, 1) < 0)
			return EXIT_FAILURE;
		close(ready);
	}
	ret = serve(fd, &is_ended, &during);
	place_close(path);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* In a process of its own, which listens when this one has ended. */
static int keep_in_background(const char *path)
{
	char code = EXIT_FAILURE;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return EXIT_FAILURE;
	pid = fork();
	if (pid < 0)
		return EXIT_FAILURE;
	if (!pid) {
		close(fds[0]);
		setsid();
		return keep(path, fds[1]);
	}
	close(fds[1]);
	if (read(fds[0], &code, 1) == 1)
		return code;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : EXIT_FAILURE;
}

/* ---- what it is asked by hand ---------------------------------------------- */

/* As nvidia-smi -L has it. */
static const char *spell(const char *uuid)
{
	static char text[64];

	snprintf(text, sizeof(text), "GPU-%.8s-%.4s-%.4s-%.4s-%.12s", uuid,
		 uuid + 8, uuid + 12, uuid + 16, uuid + 20);
	return text;
}

/* What spell() makes, or the digits alone. */
static bool parse_uuid(const char *text, char *uuid)
{
	size_t n = 0;

	if (!strncmp(text, "GPU-", 4))
		text += 4;
	for (; *text; text++) {
		if (*text == '-')
			continue;
		if (n == KEEPER_UUID_LEN - 1 || !isxdigit((unsigned char)*text))
			return false;
		uuid[n++] = (char)tolower((unsigned char)*text);
	}
	uuid[n] = '\0';
	return n == KEEPER_UUID_LEN - 1;
}

/* A process and its name, in a buffer that the next call overwrites. */
static const char *name_process(pid_t pid)
{
	static char text[64];
	char path[64], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file && fgets(comm, sizeof(comm), file))
		comm[strcspn(comm, "\n")] = '\0';
	if (file)
		fclose(file);
	snprintf(text, sizeof(text), "process %d%s%s%s", (int)pid,
		 *comm ? " (" : "", comm, *comm ? ")" : "");
	return text;
}

static int print_pool(void *arg, const struct keeper_pool *p)
{
	(void)arg;
	printf("%s: %llu chunks, %llu bytes, %s%s%s\n", spell(p->uuid),
	       (unsigned long long)p->n_chunks, (unsigned long long)p->n_bytes,
	       p->has_table ? "" : "no table, ",
	       p->holder ? "claimed by " : "claimed by nobody",
	       p->holder ? name_process(p->holder) : "");
	return 0;
}

static int status(struct keeper *k, const char *path)
{
	int ret;

	printf("k80-keeper %d at %s\n", (int)keeper_pid(k), path);
	ret = keeper_pools(k, print_pool, NULL);
	if (ret)
		fprintf(stderr, "k80-keeper: %s: %s\n", path, strerror(-ret));
	return ret;
}

static int free_one(struct keeper *k, const char *uuid)
{
	pid_t holder = 0;
	int ret = keeper_free(k, uuid, &holder);

	if (!ret)
		printf("%s: freed\n", spell(uuid));
	else if (ret == -EBUSY)
		fprintf(stderr,
			"k80-keeper: %s: not freed: claimed by %s; unmount it first\n",
			spell(uuid), name_process(holder));
	else if (ret == -ENOENT)
		fprintf(stderr, "k80-keeper: %s: nothing is kept for it\n",
			spell(uuid));
	else
		fprintf(stderr, "k80-keeper: %s: %s\n", spell(uuid),
			strerror(-ret));
	return ret;
}

struct list {
	char uuids[KEPT_MAX_POOLS][KEEPER_UUID_LEN];
	size_t n;
};

static int add_to_list(void *arg, const struct keeper_pool *p)
{
	struct list *list = arg;

	if (list->n < KEPT_MAX_POOLS)
		memcpy(list->uuids[list->n++], p->uuid, KEEPER_UUID_LEN);
	return 0;
}

static int free_all(struct keeper *k)
{
	struct list list = { .n = 0 };
	int ret = keeper_pools(k, add_to_list, &list);

	for (size_t i = 0; i < list.n; i++) {
		int err = free_one(k, list.uuids[i]);

		ret = ret ? ret : err;
	}
	return ret;
}

/* Ask the one that runs. Returns the exit code. */
static int ask(const struct args *a)
{
	char why[LINE_LEN], uuid[KEEPER_UUID_LEN];
	bool is_all = a->free && !strcmp(a->free, "all");
	struct keeper *k;
	int ret;

	if (a->free && !is_all && !parse_uuid(a->free, uuid)) {
		fprintf(stderr,
			"k80-keeper: --free=%s: the UUID of a GPU, or all\n",
			a->free);
		return EXIT_USAGE;
	}
	ret = keeper_open(&k, a->path, false, why, sizeof(why));
	if (ret == -ECONNREFUSED) {
		printf("nobody listens at %s: nothing is kept\n", a->path);
		return EXIT_SUCCESS;
	}
	if (ret) {
		fprintf(stderr, "k80-keeper: %s\n", why);
		return EXIT_FAILURE;
	}
	if (a->is_status)
		ret = status(k, a->path);
	else
		ret = is_all ? free_all(k) : free_one(k, uuid);
	keeper_close(k);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the command line ------------------------------------------------------ */

static void usage(FILE *to)
{
	fprintf(to,
		"usage: k80-keeper [options]\n"
		"Keeps the memory of files in mem/ folders of k80fs, whoever dies. k80fs starts\n"
		"it when it is needed.\n"
		"\n"
		"  -s, --socket=PATH   listen there, or ask the one that does (of root\n"
		"                      " KEEPER_SOCKET ", of others\n"
		"                      $XDG_RUNTIME_DIR/k80fs-keeper.sock)\n"
		"  -F, --foreground    stay in the foreground\n"
		"  -S, --status        what is kept, and who has claimed it\n"
		"  -f, --free=UUID     let go of all that is kept for that GPU; --free=all: for\n"
		"                      every GPU. Its files are gone then\n"
		"  -h, --help          this text\n"
		"  -V, --version       version\n"
		"\n"
		"Exit code: 0; 1 it could not begin, or something was not freed; 2 bad\n"
		"arguments.\n");
}

static int flush_stdout(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "k80-keeper: standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

static int set_path(struct args *a, const char *path)
{
	size_t len = strlen(path);

	/* it goes to / later on */
	if (*path != '/' || len >= sizeof(a->path)) {
		fprintf(stderr, "k80-keeper: --socket=%s: an absolute path\n",
			path);
		return EXIT_USAGE;
	}
	memcpy(a->path, path, len + 1);
	return -1;
}

/* Returns -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "foreground", no_argument, NULL, 'F' },
		{ "status", no_argument, NULL, 'S' },
		{ "free", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c, ret;

	while ((c = getopt_long(argc, argv, "s:FSf:hV", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			ret = set_path(a, optarg);
			if (ret >= 0)
				return ret;
			break;
		case 'F':
			a->is_foreground = true;
			break;
		case 'S':
			a->is_status = true;
			break;
		case 'f':
			a->free = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("k80-keeper %s\n", K80FS_VERSION);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc || (a->free && a->is_status) ||
	    (a->is_foreground && (a->free || a->is_status))) {
		fprintf(stderr,
			"k80-keeper: one of --foreground, --status and --free, and no arguments\n");
		return EXIT_USAGE;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct args a = { .path = "" };
	int ret;

	/* what is not open must not become the socket; what is, is not ours */
	while ((ret = open("/dev/null", O_RDWR)) >= 0 && ret <= STDERR_FILENO)
		;
	closefrom(STDERR_FILENO + 1);
	ret = parse(argc, argv, &a);
	if (ret >= 0)
		return flush_stdout(ret);
	if (!*a.path && keeper_default(a.path, sizeof(a.path))) {
		fprintf(stderr,
			"k80-keeper: $XDG_RUNTIME_DIR is not set: say --socket=PATH\n");
		return EXIT_FAILURE;
	}
	if (a.is_status || a.free)
		return flush_stdout(ask(&a));
	return a.is_foreground ? keep(a.path, -1) : keep_in_background(a.path);
}
