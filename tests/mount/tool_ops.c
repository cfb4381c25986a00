// SPDX-License-Identifier: GPL-2.0-or-later
/* tool: reads, writes, maps and the calls that change a file's blocks */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "pattern.h"

#define PAGE  4096
#define CHUNK ((uint64_t)1 << 20) /* of operations that go on until done */

/* A buffer that misses page alignment by what "align" said */
static unsigned char *buffer(struct tool *t, uint64_t len)
{
	static unsigned char *base;
	static uint64_t size;

	if (size < len + PAGE) {
		free(base);
		size = len + PAGE;
		base = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
		if (!base)
			tool_die("out of memory");
	}
	return base + t->shift;
}

static int64_t result(int64_t ret)
{
	return ret < 0 ? -errno : ret;
}

static int64_t compare(const struct tool *t, const unsigned char *got,
		       const unsigned char *wanted, uint64_t len, uint64_t off)
{
	uint64_t i;

	for (i = 0; i < len; i++) {
		if (got[i] == wanted[i])
			continue;
		fprintf(stderr, "tool: %s: byte %llu is 0x%02x, wanted 0x%02x\n",
			t->path, (unsigned long long)(off + i), got[i],
			wanted[i]);
		return TOOL_BAD_DATA;
	}
	return (int64_t)len;
}

static int64_t op_pread(struct tool *t, char **arg)
{
	uint64_t len = (uint64_t)tool_number(arg[1]);

	return result(pread(t->fd, buffer(t, len), len, tool_number(arg[0])));
}

static int64_t op_pwrite(struct tool *t, char **arg)
{
	uint64_t len = (uint64_t)tool_number(arg[1]);

	memset(buffer(t, len), (int)tool_number(arg[2]), len);
	return result(pwrite(t->fd, buffer(t, len), len, tool_number(arg[0])));
}

static int64_t op_read(struct tool *t, char **arg)
{
	uint64_t len = (uint64_t)tool_number(arg[0]);

	return result(read(t->fd, buffer(t, len), len));
}

static int64_t op_write(struct tool *t, char **arg)
{
	uint64_t len = (uint64_t)tool_number(arg[0]);

	memset(buffer(t, len), (int)tool_number(arg[1]), len);
	return result(write(t->fd, buffer(t, len), len));
}

static int64_t op_gets(struct tool *t, char **arg)
{
	uint64_t len = (uint64_t)tool_number(arg[1]);
	ssize_t n = pread(t->fd, buffer(t, len), len, tool_number(arg[0]));

	if (n > 0)
		fwrite(buffer(t, len), 1, (size_t)n, stdout);
	fflush(stdout);
	return result(n);
}

static int64_t op_puts(struct tool *t, char **arg)
{
	uint64_t len;
	char *text = tool_text(arg[0], &len);
	int64_t n = result(write(t->fd, text, len));

	free(text);
	return n;
}

static int64_t op_pputs(struct tool *t, char **arg)
{
	uint64_t len;
	char *text = tool_text(arg[1], &len);
	int64_t n = result(pwrite(t->fd, text, len, tool_number(arg[0])));

	free(text);
	return n;
}

static int64_t op_same(struct tool *t, char **arg)
{
	uint64_t off = (uint64_t)tool_number(arg[0]), done = 0;
	uint64_t len = (uint64_t)tool_number(arg[1]);
	int byte = (int)tool_number(arg[2]);
	static unsigned char wanted[CHUNK];

	memset(wanted, byte, CHUNK);
	while (done < len) {
		uint64_t n = len - done < CHUNK ? len - done : CHUNK;
		ssize_t got = pread(t->fd, buffer(t, n), n, (off_t)(off + done));

		if (got <= 0)
			return got ? -errno : (int64_t)done;
		if (compare(t, buffer(t, n), wanted, (uint64_t)got, off + done) <
		    0)
			return TOOL_BAD_DATA;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}

static int64_t op_fill(struct tool *t, char **arg)
{
	uint64_t off = (uint64_t)tool_number(arg[0]), done = 0;
	uint64_t len = (uint64_t)tool_number(arg[1]);
	uint64_t seed = (uint64_t)tool_number(arg[2]);

	while (done < len) {
		uint64_t n = len - done < CHUNK ? len - done : CHUNK;
		ssize_t put;

		pattern_fill(buffer(t, n), n, off + done, seed);
		put = pwrite(t->fd, buffer(t, n), n, (off_t)(off + done));
		if (put <= 0)
			return put ? -errno : (int64_t)done;
		done += (uint64_t)put;
	}
	return (int64_t)done;
}

static int64_t op_verify(struct tool *t, char **arg)
{
	uint64_t off = (uint64_t)tool_number(arg[0]), done = 0;
	uint64_t len = (uint64_t)tool_number(arg[1]);
	uint64_t seed = (uint64_t)tool_number(arg[2]);
	static unsigned char wanted[CHUNK];

	while (done < len) {
		uint64_t n = len - done < CHUNK ? len - done : CHUNK;
		ssize_t got = pread(t->fd, buffer(t, n), n, (off_t)(off + done));

		if (got <= 0)
			return got ? -errno : (int64_t)done;
		pattern_fill(wanted, (uint64_t)got, off + done, seed);
		if (compare(t, buffer(t, n), wanted, (uint64_t)got, off + done) <
		    0)
			return TOOL_BAD_DATA;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}

static int64_t op_align(struct tool *t, char **arg)
{
	t->shift = (unsigned int)tool_number(arg[0]) % PAGE;
	return 0;
}

/* what each close(2) of a descriptor sends */
static int64_t op_flush(struct tool *t, char **arg)
{
	int fd = dup(t->fd);

	(void)arg;
	return fd < 0 ? result(-1) : result(close(fd));
}

static int64_t op_fsync(struct tool *t, char **arg)
{
	(void)arg;
	return result(fsync(t->fd));
}

static int64_t op_fdatasync(struct tool *t, char **arg)
{
	(void)arg;
	return result(fdatasync(t->fd));
}

static int64_t op_ftruncate(struct tool *t, char **arg)
{
	return result(ftruncate(t->fd, tool_number(arg[0])));
}

static int64_t op_fallocate(struct tool *t, char **arg)
{
	static const struct {
		const char *name;
		int mode;
	} modes[] = {
		{ "0", 0 },
		{ "keep", FALLOC_FL_KEEP_SIZE },
		{ "punch", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE },
		{ "zero", FALLOC_FL_ZERO_RANGE },
		{ "zerokeep", FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE },
		{ "collapse", FALLOC_FL_COLLAPSE_RANGE },
		{ "insert", FALLOC_FL_INSERT_RANGE },
		{ "unshare", FALLOC_FL_UNSHARE_RANGE },
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(arg[0], modes[i].name))
			return result(fallocate(t->fd, modes[i].mode,
						tool_number(arg[1]),
						tool_number(arg[2])));
	tool_die("unknown fallocate mode '%s'", arg[0]);
}

static int64_t op_lseek(struct tool *t, char **arg)
{
	static const struct {
		const char *name;
		int whence;
	} whence[] = { { "set", SEEK_SET },
		       { "cur", SEEK_CUR },
		       { "end", SEEK_END },
		       { "data", SEEK_DATA },
		       { "hole", SEEK_HOLE } };
	size_t i;

	for (i = 0; i < sizeof(whence) / sizeof(*whence); i++)
		if (!strcmp(arg[1], whence[i].name))
			return result(lseek(t->fd, tool_number(arg[0]),
					    whence[i].whence));
	tool_die("unknown whence '%s'", arg[1]);
}

static int64_t op_cfr(struct tool *t, char **arg)
{
	off_t from = tool_number(arg[0]), to = tool_number(arg[2]);
	int fd = open(arg[1], O_RDWR | O_CLOEXEC);
	int64_t n;

	if (fd < 0)
		return -errno;
	n = result(copy_file_range(t->fd, &from, fd, &to,
				   (size_t)tool_number(arg[3]), 0));
	close(fd);
	return n;
}

static int64_t op_reopen(struct tool *t, char **arg)
{
	close(t->fd);
	t->fd = open(t->path, tool_open_flags(arg[0]), 0600);
	return result(t->fd);
}

static int64_t op_close(struct tool *t, char **arg)
{
	int fd = t->fd;

	(void)arg;
	t->fd = -1;
	return result(close(fd));
}

/* Through a pipe, by sendfile or splice, and compare what comes out */
static int64_t through_pipe(struct tool *t, char **arg, int use_sendfile)
{
	off_t off = tool_number(arg[0]);
	uint64_t len = (uint64_t)tool_number(arg[1]);
	static unsigned char wanted[CHUNK];
	int64_t n, ret;
	int pipe_fd[2];

	if (len > 65536)
		tool_die("more than a pipe holds: %s", arg[1]);
	memset(wanted, (int)tool_number(arg[2]), len);
	if (pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	n = use_sendfile ? sendfile(pipe_fd[1], t->fd, &off, len)
			 : splice(t->fd, &off, pipe_fd[1], NULL, len, 0);
	ret = result(n);
	if (n > 0) {
		n = read(pipe_fd[0], buffer(t, len), (size_t)n);
		ret = compare(t, buffer(t, len), wanted, (uint64_t)n,
			      (uint64_t)tool_number(arg[0]));
	}
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return ret;
}

static int64_t op_sendfile(struct tool *t, char **arg)
{
	return through_pipe(t, arg, 1);
}

static int64_t op_splice(struct tool *t, char **arg)
{
	return through_pipe(t, arg, 0);
}

const struct op tool_io_ops[] = {
	{ "pread", 2, op_pread, 2 },
	{ "pwrite", 3, op_pwrite, 2 },
	{ "read", 1, op_read, 1 },
	{ "write", 2, op_write, 1 },
	{ "gets", 2, op_gets, 0 },
	{ "puts", 1, op_puts, TOOL_FULL_TEXT },
	{ "pputs", 2, op_pputs, TOOL_FULL_TEXT },
	{ "same", 3, op_same, 2 },
	{ "fill", 3, op_fill, 2 },
	{ "verify", 3, op_verify, 2 },
	{ "align", 1, op_align, 0 },
	{ "flush", 0, op_flush, 0 },
	{ "fsync", 0, op_fsync, 0 },
	{ "fdatasync", 0, op_fdatasync, 0 },
	{ "ftruncate", 1, op_ftruncate, 0 },
	{ "fallocate", 3, op_fallocate, 0 },
	{ "lseek", 2, op_lseek, 0 },
	{ "cfr", 4, op_cfr, 4 },
	{ "reopen", 1, op_reopen, 0 },
	{ "close", 0, op_close, 0 },
	{ "sendfile", 3, op_sendfile, 2 },
	{ "splice", 3, op_splice, 2 },
	{ NULL, 0, NULL, 0 },
};
