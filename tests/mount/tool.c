// SPDX-License-Identifier: GPL-2.0-or-later
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage_text[] =
	"usage: tool FILE FLAGS[:ERRNO] OP[,ARG]...[:RESULT]...\n"
	"Opens FILE (\"fd:N\" uses descriptor N) and runs the operations in\n"
	"order; the first one that gives another result than stated ends it\n"
	"with exit code 1. RESULT is a number or an errno name. Without one the\n"
	"operation must succeed, a read or write in full.\n"
	"FLAGS: r w rw path joined by + with direct append sync dsync nonblock\n"
	"trunc creat excl; FLAGS:ERRNO says that open must fail so.\n"
	"I/O:  pread,OFF,LEN pwrite,OFF,LEN,BYTE read,LEN write,LEN,BYTE\n"
	"      gets,OFF,LEN (to stdout) puts,TEXT pputs,OFF,TEXT same,OFF,LEN,"
	"BYTE\n"
	"      fill,OFF,LEN,SEED verify,OFF,LEN,SEED align,N\n"
	"      flush fsync fdatasync ftruncate,LEN fallocate,MODE,OFF,LEN\n"
	"      (MODE: 0 keep punch zero collapse insert unshare)\n"
	"      lseek,OFF,WHENCE (set cur end data hole)\n"
	"      cfr,OFF,FILE2,OFF2,LEN (copy_file_range) reopen,FLAGS close\n"
	"      sendfile,OFF,LEN,BYTE splice,OFF,LEN,BYTE\n"
	"Maps: mmap,shared|private,r|rw,OFF,LEN peek,OFF,LEN,BYTE "
	"poke,OFF,LEN,BYTE msync\n"
	"Sim:  order,TEXT (FILE is the socket, FLAGS path; the answer must be "
	"ok)\n"
	"Rest: poll,EVENTS,MS (gives revents: 1 POLLIN, 2 POLLPRI) ioctl,NR "
	"size blocks blksize\n"
	"      getxattr,NAME setxattr,NAME,VALUE listxattr removexattr,NAME\n"
	"      mkdir mknod creat unlink rmdir symlink,TO link,NEW rename,NEW\n"
	"      sleep,MS alarm,MS (signals, each MS) took,MIN,MAX (ms, the last op)\n"
	"      say,TEXT hear (wait for a line on stdin)\n";

void tool_die(const char *format, ...)
{
	va_list args;

	fputs("tool: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

int64_t tool_number(const char *text)
{
	char *end;
	int64_t value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (end == text || errno)
		tool_die("not a number: '%s'", text);
	switch (*end) {
	case 'G':
		value *= 1024; /* fall through */
	case 'M':
		value *= 1024; /* fall through */
	case 'K':
		value *= 1024;
		end++;
	}
	if (*end)
		tool_die("not a number: '%s'", text);
	return value;
}

static const struct {
	const char *name;
	int flag;
} open_words[] = {
	{ "r", O_RDONLY },          { "w", O_WRONLY },
	{ "rw", O_RDWR },           { "path", O_PATH },
	{ "direct", O_DIRECT },     { "append", O_APPEND },
	{ "sync", O_SYNC },         { "dsync", O_DSYNC },
	{ "nonblock", O_NONBLOCK }, { "trunc", O_TRUNC },
	{ "creat", O_CREAT },       { "excl", O_EXCL },
};

int tool_open_flags(const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	int flags = O_CLOEXEC;

	while ((word = strsep(&rest, "+"))) {
		size_t i;

		for (i = 0; i < sizeof(open_words) / sizeof(*open_words); i++)
			if (!strcmp(word, open_words[i].name))
				break;
		if (i == sizeof(open_words) / sizeof(*open_words))
			tool_die("unknown open flag '%s'", word);
		flags |= open_words[i].flag;
	}
	free(copy);
	return flags;
}

char *tool_text(const char *text, uint64_t *len)
{
	char *out = malloc(strlen(text) + 1);
	uint64_t n = 0;

	if (!out)
		tool_die("out of memory");
	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			out[n++] = *text == 'n'   ? '\n'
				   : *text == 't' ? '\t'
				   : *text == '0' ? '\0'
						  : *text;
		} else {
			out[n++] = *text;
		}
	}
	out[n] = 0;
	*len = n;
	return out;
}

/* errno by name, as strerrorname_np() knows them; 0 if it is none */
static int errno_by_name(const char *name)
{
	int e;

	for (e = 1; e < 200; e++) {
		const char *known = strerrorname_np(e);

		if (known && !strcmp(known, name))
			return e;
	}
	return !strcmp(name, "EOPNOTSUPP") ? EOPNOTSUPP : 0;
}

static const char *result_text(int64_t result, char *buf, size_t size)
{
	if (result == TOOL_BAD_DATA)
		snprintf(buf, size, "wrong data");
	else if (result < 0)
		snprintf(buf, size, "%s", strerrorname_np((int)-result));
	else
		snprintf(buf, size, "%lld", (long long)result);
	return buf;
}

/* Compare with what was stated; @stated NULL: @wanted, or any if that is < 0 */
static void judge(const char *what, int64_t got, const char *stated,
		  int64_t wanted)
{
	char got_text[32], wanted_text[32];
	int e;

	if (stated) {
		e = errno_by_name(stated);
		wanted = e ? -e : tool_number(stated);
		if (got == wanted)
			return;
	} else if (got >= 0 && (wanted < 0 || got == wanted)) {
		return;
	}
	snprintf(wanted_text, sizeof(wanted_text), "%s",
		 stated ? stated : "success");
	if (!stated && wanted >= 0)
		result_text(wanted, wanted_text, sizeof(wanted_text));
	fprintf(stderr, "tool: %s: wanted %s, got %s\n", what, wanted_text,
		result_text(got, got_text, sizeof(got_text)));
	exit(1);
}

static const struct op *find_op(const char *name)
{
	const struct op *op;

	for (op = tool_io_ops; op->name; op++)
		if (!strcmp(op->name, name))
			return op;
	for (op = tool_misc_ops; op->name; op++)
		if (!strcmp(op->name, name))
			return op;
	tool_die("unknown operation '%s'", name);
}

int64_t tool_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* Cut "word:RESULT" in two at the last colon; returns RESULT or NULL */
static char *cut_result(char *word)
{
	char *colon = strrchr(word, ':');

	if (colon)
		*colon++ = 0;
	return colon;
}

/* What success is when the word states none; -1: anything */
static int64_t full_result(const struct op *op, char **arg)
{
	uint64_t len;

	if (op->full == TOOL_FULL_TEXT) {
		free(tool_text(arg[op->n_args - 1], &len));
		return (int64_t)len;
	}
	return op->full ? tool_number(arg[op->full - 1]) : -1;
}

static void run_word(struct tool *t, const char *word)
{
	char *copy = strdup(word), *rest = copy, *arg[TOOL_MAX_ARGS] = { 0 };
	char *stated = cut_result(copy);
	const struct op *op = find_op(strsep(&rest, ","));
	int64_t result, start;
	int n = 0;

	/* the last argument may hold commas */
	while (rest && n < op->n_args) {
		if (n == op->n_args - 1) {
			arg[n++] = rest;
			rest = NULL;
		} else {
			arg[n++] = strsep(&rest, ",");
		}
	}
	if (n != op->n_args || rest)
		tool_die("%s: needs %d arguments", word, op->n_args);
	start = t->armed_ms ? t->armed_ms : tool_now_ms();
	result = op->run(t, arg);
	if (strcmp(op->name, "took"))
		t->took_ms = tool_now_ms() - start;
	if (t->armed_ms && strcmp(op->name, "alarm")) {
		tool_set_alarm(0);
		t->armed_ms = 0;
	}
	judge(word, result, stated, full_result(op, arg));
	free(copy);
}

int main(int argc, char **argv)
{
	struct tool t = { .fd = -1 };
	char *flags, *stated;
	int i;

	if (argc < 3) {
		fputs(usage_text, stderr);
		return 2;
	}
	t.path = argv[1];
	flags = strdup(argv[2]);
	stated = cut_result(flags);
	if (!strncmp(t.path, "fd:", 3)) {
		t.fd = (int)tool_number(t.path + 3);
	} else if (strcmp(flags, "path")) {
		t.fd = open(t.path, tool_open_flags(flags), 0600);
		judge("open", t.fd < 0 ? -errno : t.fd, stated, -1);
	}
	for (i = 3; i < argc; i++)
		run_word(&t, argv[i]);
	return 0;
}
