// SPDX-License-Identifier: GPL-2.0-or-later
#include "keeper_fixture.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

struct keeper *keeper;
const char *keeper_path;
char keeper_why[512];

static char *dir;
static char path[PATH_MAX];

static void make_place(void)
{
	/* of short names: a socket's has at most 107 bytes */
	dir = support_tempdir();
	snprintf(path, sizeof(path), "%s/s", dir);
	keeper_path = path;
	keeper = NULL;
	/* the keeper's parent ends: we inherit it, and see it end */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

void keeper_setup(void)
{
	int ret;

	make_place();
	ret = keeper_open(&keeper, path, true, keeper_why, sizeof(keeper_why));
	ck_assert_msg(!ret, "%s: %s", strerror(-ret), keeper_why);
}

void keeper_setup_limited(void)
{
	const struct rlimit limit = { 1024, 1024 };
	int status;
	pid_t pid;

	make_place();
	pid = fork();
	if (!pid) {
		char program[PATH_MAX] = "";
		ssize_t n = readlink("/proc/self/exe", program,
				     sizeof(program) - 16);

		if (n < 0 || setrlimit(RLIMIT_NOFILE, &limit))
			_exit(1);
		strcpy(strrchr(program, '/'), "/k80-keeper");
		execl(program, program, "--socket", path, NULL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	keeper = keeper_connect();
}

struct keeper *keeper_connect(void)
{
	struct keeper *k;
	int ret = keeper_open(&k, path, false, keeper_why, sizeof(keeper_why));

	ck_assert_msg(!ret, "%s: %s", strerror(-ret), keeper_why);
	return k;
}

void keeper_end(int sig)
{
	pid_t pid = keeper_pid(keeper);
	int status;

	ck_assert_int_eq(kill(pid, sig), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (sig == SIGKILL)
		ck_assert(WIFSIGNALED(status));
	else
		ck_assert_int_eq(status, 0);
}

void keeper_teardown(void)
{
	if (keeper && !kill(keeper_pid(keeper), 0))
		keeper_end(SIGTERM);
	keeper_close(keeper);
	support_remove(dir);
}

int keeper_n_fds(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)keeper_pid(keeper));
	return support_n_entries(name);
}

int memory_of(uint64_t number)
{
	int fd = memfd_create("check", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	support_assert(pwrite(fd, &number, sizeof(number), 0) ==
		       (ssize_t)sizeof(number));
	return fd;
}

uint64_t memory_number(int fd)
{
	uint64_t number;

	support_assert(pread(fd, &number, sizeof(number), 0) ==
		       (ssize_t)sizeof(number));
	close(fd);
	return number;
}

int put_ids(struct keeper *k, uint64_t first, unsigned int n)
{
	struct keeper_chunk *chunks = calloc(n, sizeof(*chunks));
	int fd = memory_of(first), ret;

	support_assert(chunks);
	for (unsigned int i = 0; i < n; i++)
		chunks[i] = (struct keeper_chunk){ first + i, fd, 2 << 20 };
	ret = keeper_put(k, POOL, chunks, n);
	close(fd);
	free(chunks);
	return ret;
}

struct count {
	uint64_t next;
	unsigned int n;
};

static int count_one(void *arg, uint64_t id, int fd)
{
	struct count *c = arg;
	uint64_t first = memory_number(fd);

	support_assert(id == c->next);
	support_assert(first && first <= id);
	c->next++;
	c->n++;
	return 0;
}

unsigned int count_ids(struct keeper *k, uint64_t first)
{
	struct count c = { first, 0 };

	ck_assert_int_eq(keeper_each(k, POOL, count_one, &c), 0);
	return c.n;
}

struct look {
	const char *uuid;
	struct keeper_pool found;
};

static int look_at(void *arg, const struct keeper_pool *p)
{
	struct look *l = arg;

	if (!strcmp(p->uuid, l->uuid))
		l->found = *p;
	return 0;
}

struct keeper_pool pool_of(struct keeper *k, const char *uuid)
{
	struct look l = { .uuid = uuid };

	ck_assert_int_eq(keeper_pools(k, look_at, &l), 0);
	return l.found;
}
