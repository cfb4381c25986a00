// SPDX-License-Identifier: GPL-2.0-or-later
/* tool: mappings, poll, names, time */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static int64_t result(int64_t ret)
{
	return ret < 0 ? -errno : ret;
}

static int64_t op_mmap(struct tool *t, char **arg)
{
	int flags = !strcmp(arg[0], "shared") ? MAP_SHARED : MAP_PRIVATE;
	int prot = !strcmp(arg[1], "rw") ? PROT_READ | PROT_WRITE : PROT_READ;
	off_t off = tool_number(arg[2]);
	uint64_t len = (uint64_t)tool_number(arg[3]);
	void *map = mmap(NULL, len, prot, flags, t->fd, off);

	if (map == MAP_FAILED)
		return -errno;
	if (t->map)
		munmap(t->map, t->map_len);
	t->map = map;
	t->map_len = len;
	t->map_off = (uint64_t)off;
	return 0;
}

static unsigned char *mapped(struct tool *t, const char *off_text)
{
	uint64_t off = (uint64_t)tool_number(off_text);

	if (!t->map || off < t->map_off || off >= t->map_off + t->map_len)
		tool_die("offset %s is not mapped", off_text);
	return t->map + (off - t->map_off);
}

static int64_t op_peek(struct tool *t, char **arg)
{
	volatile unsigned char *at = mapped(t, arg[0]);
	uint64_t len = (uint64_t)tool_number(arg[1]), i;

	for (i = 0; i < len; i++) {
		unsigned char got = at[i];

		if (got == (unsigned char)tool_number(arg[2]))
			continue;
		fprintf(stderr, "tool: %s: mapped byte %s + %llu is 0x%02x\n",
			t->path, arg[0], (unsigned long long)i, got);
		return TOOL_BAD_DATA;
	}
	return (int64_t)len;
}

static int64_t op_poke(struct tool *t, char **arg)
{
	memset(mapped(t, arg[0]), (int)tool_number(arg[2]),
	       (size_t)tool_number(arg[1]));
	return 0;
}

static int64_t op_msync(struct tool *t, char **arg)
{
	(void)arg;
	return result(msync(t->map, t->map_len, MS_SYNC));
}

static int64_t op_poll(struct tool *t, char **arg)
{
	struct pollfd p = { .fd = t->fd, .events = (short)tool_number(arg[0]) };
	int n = poll(&p, 1, (int)tool_number(arg[1]));

	return n < 0 ? -errno : p.revents;
}

static int64_t op_ioctl(struct tool *t, char **arg)
{
	char scratch[4096] = { 0 };

	return result(ioctl(t->fd, (unsigned long)tool_number(arg[0]), scratch));
}

static int64_t op_size(struct tool *t, char **arg)
{
	struct stat st;

	(void)arg;
	return fstat(t->fd, &st) ? -errno : st.st_size;
}

static int64_t op_blocks(struct tool *t, char **arg)
{
	struct stat st;

	(void)arg;
	return fstat(t->fd, &st) ? -errno : st.st_blocks;
}

static int64_t op_blksize(struct tool *t, char **arg)
{
	struct stat st;

	(void)arg;
	return fstat(t->fd, &st) ? -errno : st.st_blksize;
}

static int64_t op_getxattr(struct tool *t, char **arg)
{
	char value[256];

	return result(getxattr(t->path, arg[0], value, sizeof(value)));
}

static int64_t op_setxattr(struct tool *t, char **arg)
{
	return result(setxattr(t->path, arg[0], arg[1], strlen(arg[1]), 0));
}

static int64_t op_listxattr(struct tool *t, char **arg)
{
	char names[256];

	(void)arg;
	return result(listxattr(t->path, names, sizeof(names)));
}

static int64_t op_removexattr(struct tool *t, char **arg)
{
	return result(removexattr(t->path, arg[0]));
}

static int64_t op_mkdir(struct tool *t, char **arg)
{
	(void)arg;
	return result(mkdir(t->path, 0755));
}

static int64_t op_mknod(struct tool *t, char **arg)
{
	(void)arg;
	return result(mknod(t->path, S_IFIFO | 0600, 0));
}

static int64_t op_creat(struct tool *t, char **arg)
{
	(void)arg;
	return result(open(t->path, O_CREAT | O_EXCL | O_WRONLY, 0600));
}

static int64_t op_unlink(struct tool *t, char **arg)
{
	(void)arg;
	return result(unlink(t->path));
}

static int64_t op_rmdir(struct tool *t, char **arg)
{
	(void)arg;
	return result(rmdir(t->path));
}

static int64_t op_symlink(struct tool *t, char **arg)
{
	return result(symlink(arg[0], t->path));
}

static int64_t op_link(struct tool *t, char **arg)
{
	return result(link(t->path, arg[0]));
}

static int64_t op_rename(struct tool *t, char **arg)
{
	return result(rename(t->path, arg[0]));
}

static int64_t op_sleep(struct tool *t, char **arg)
{
	(void)t;
	return result(usleep((useconds_t)tool_number(arg[0]) * 1000));
}

static void on_alarm(int sig)
{
	(void)sig;
}

int64_t tool_set_alarm(int64_t ms)
{
	struct sigaction act = { .sa_handler = on_alarm };
	struct timeval each = { ms / 1000, ms % 1000 * 1000 };
	struct itimerval timer = { .it_interval = each, .it_value = each };

	sigaction(SIGALRM, &act, NULL);
	return result(setitimer(ITIMER_REAL, &timer, NULL));
}

static int64_t op_alarm(struct tool *t, char **arg)
{
	t->armed_ms = tool_now_ms();
	return tool_set_alarm(tool_number(arg[0]));
}

static int64_t op_took(struct tool *t, char **arg)
{
	if (t->took_ms >= tool_number(arg[0]) && t->took_ms <= tool_number(arg[1]))
		return t->took_ms;
	fprintf(stderr, "tool: %s: the operation took %lld ms\n", t->path,
		(long long)t->took_ms);
	return -ETIME;
}

static int64_t op_say(struct tool *t, char **arg)
{
	(void)t;
	puts(arg[0]);
	return fflush(stdout) ? -errno : 0;
}

static int64_t op_hear(struct tool *t, char **arg)
{
	char line[128];

	(void)t;
	(void)arg;
	return fgets(line, sizeof(line), stdin) ? 0 : -EPIPE;
}

/* One line to the simulator's socket; 0 if it answers "ok" */
static int64_t op_order(struct tool *t, char **arg)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char answer[256] = "";
	FILE *stream;
	int fd;

	if (strlen(t->path) >= sizeof(addr.sun_path))
		tool_die("socket name too long: %s", t->path);
	strcpy(addr.sun_path, t->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	stream = fdopen(fd, "r+");
	fprintf(stream, "%s\n", arg[0]);
	fflush(stream);
	if (!fgets(answer, sizeof(answer), stream))
		snprintf(answer, sizeof(answer), "end of file");
	fclose(stream);
	if (!strcmp(answer, "ok\n"))
		return 0;
	fprintf(stderr, "tool: order '%s': %s\n", arg[0], answer);
	return -EPROTO;
}

const struct op tool_misc_ops[] = {
	{ "mmap", 4, op_mmap, 0 },
	{ "peek", 3, op_peek, 2 },
	{ "poke", 3, op_poke, 0 },
	{ "msync", 0, op_msync, 0 },
	{ "poll", 2, op_poll, 0 },
	{ "ioctl", 1, op_ioctl, 0 },
	{ "size", 0, op_size, 0 },
	{ "blocks", 0, op_blocks, 0 },
	{ "blksize", 0, op_blksize, 0 },
	{ "getxattr", 1, op_getxattr, 0 },
	{ "setxattr", 2, op_setxattr, 0 },
	{ "listxattr", 0, op_listxattr, 0 },
	{ "removexattr", 1, op_removexattr, 0 },
	{ "mkdir", 0, op_mkdir, 0 },
	{ "mknod", 0, op_mknod, 0 },
	{ "creat", 0, op_creat, 0 },
	{ "unlink", 0, op_unlink, 0 },
	{ "rmdir", 0, op_rmdir, 0 },
	{ "symlink", 1, op_symlink, 0 },
	{ "link", 1, op_link, 0 },
	{ "rename", 1, op_rename, 0 },
	{ "sleep", 1, op_sleep, 0 },
	{ "alarm", 1, op_alarm, 0 },
	{ "took", 2, op_took, 0 },
	{ "order", 1, op_order, 0 },
	{ "say", 1, op_say, 0 },
	{ "hear", 0, op_hear, 0 },
	{ NULL, 0, NULL, 0 },
};
