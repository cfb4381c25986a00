/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-owner: a context on every die, driven by lines from stdin or a FIFO.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/owner.h"
#include "owner/session.h"
#include "text/words.h"

#define EXIT_USAGE  2
#define DEFAULT_DEV "/dev/bar_swap"

/* a garbage line is repeated in the log up to here */
#define SHOWN_BYTES 40

static int log_fd = STDOUT_FILENO;

/* A line with the time before it, in one write; a full disk stops nothing. */
static void say(const char *line)
{
	char text[2 * OWNER_LINE_LEN + 64];
	size_t len = owner_stamp(text, sizeof(text), line);

	if (write(log_fd, text, len) < 0)
		return;
}

static void complain(const struct repl_input *in, const char *why)
{
	char line[OWNER_LINE_LEN], shown[SHOWN_BYTES + 1];
	size_t n = MIN(in->len, (size_t)SHOWN_BYTES);

	for (size_t i = 0; i < n; i++)
		shown[i] = in->line[i] < ' ' || in->line[i] > '~' ? '?'
								  : in->line[i];
	shown[n] = '\0';
	snprintf(line, sizeof(line), "error: %s: '%s%s'", why, shown,
		 in->len > n ? "..." : "");
	say(line);
}

/* Returns false when the session is over. */
static bool take_line(struct session *s, const struct repl_input *in, int got)
{
	const char *why = "longer than a line may be";
	struct repl_cmd cmd;

	if (!got)
		return true;
	if (got < 0 ||
	    repl_parse(in->line, in->len, session_dies(s), &cmd, &why)) {
		complain(in, why);
		return true;
	}
	if (cmd.verb == REPL_SHUTDOWN)
		return false;
	session_run(s, &cmd);
	return true;
}

/* Until shutdown (false) or the end of the input (true). */
static bool serve(struct session *s, int fd)
{
	struct repl_input in = { 0 };
	char buf[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return take_line(s, &in, repl_end(&in));
		for (ssize_t i = 0; i < n; i++)
			if (!take_line(s, &in, repl_push(&in, buf[i])))
				return false;
	}
}

/* A FIFO has an end whenever its last writer closes it: open it again. */
static void serve_fifo(struct session *s, const char *path)
{
	struct stat st;
	int fd;

	do {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			if (errno == EINTR)
				continue;
			fprintf(stderr, "k80-owner: %s: %s\n", path,
				strerror(errno));
			return;
		}
		if (fstat(fd, &st))
			st.st_mode = 0;
		if (!serve(s, fd)) {
			close(fd);
			return;
		}
		close(fd);
	} while (S_ISFIFO(st.st_mode));
}

static void usage(FILE *to)
{
	fprintf(to,
		"usage: k80-owner [options]\n"
		"Keeps a CUDA context on every die and moves the slot under them; reads\n"
		"commands, a line each (`help` lists them).\n"
		"\n"
		"  -d, --device=DEV   node of the module (" DEFAULT_DEV
		"), sim[:OPTIONS] for\n"
		"                     simulated dies, or none: no slot, CUDA devices alone\n"
		"  -n, --dies=N       with --device=none: dies, spread over the devices (6)\n"
		"  -s, --streams      dies of one device are streams of one context\n"
		"  -i, --input=FIFO   read commands there, made if it is missing, and opened\n"
		"                     again at its end; default: standard input\n"
		"  -l, --log=FILE     append to FILE; default: standard output\n"
		"  -h, --help         this text\n"
		"  -V, --version      version\n"
		"\n"
		"Ends without tearing anything down: the slot stays as it is.\n");
}

struct args {
	struct session_config session;
	const char *input;
	const char *log;
};

/* Returns -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "dies", required_argument, NULL, 'n' },
		{ "streams", no_argument, NULL, 's' },
		{ "input", required_argument, NULL, 'i' },
		{ "log", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "print-count", no_argument, NULL, 'C' }, /* of `probe` */
		{ 0 },
	};
	uint64_t n;
	int c;

	while ((c = getopt_long(argc, argv, "d:n:si:l:hV", options, NULL)) >= 0) {
		switch (c) {
		case 'd':
			a->session.device = optarg;
			break;
		case 'n':
			if (word_number(optarg, strlen(optarg), OWNER_MAX_DIES,
					&n) ||
			    !n) {
				fprintf(stderr, "k80-owner: --dies=%s: 1 to %d\n",
					optarg, OWNER_MAX_DIES);
				return EXIT_USAGE;
			}
			a->session.n_dies = (unsigned int)n;
			break;
		case 's':
			a->session.is_streams = true;
			break;
		case 'i':
			a->input = optarg;
			break;
		case 'l':
			a->log = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("k80-owner %s\n", K80FS_VERSION);
			return EXIT_SUCCESS;
		case 'C':
			return session_print_count() ? EXIT_FAILURE
						     : EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "k80-owner: '%s': no arguments, only options\n",
		argv[optind]);
	return EXIT_USAGE;
}

static int open_files(const struct args *a)
{
	if (a->log) {
		log_fd = open(a->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			      0644);
		if (log_fd < 0) {
			fprintf(stderr, "k80-owner: %s: %s\n", a->log,
				strerror(errno));
			return -errno;
		}
	}
	if (a->input && mkfifo(a->input, 0600) && errno != EEXIST) {
		fprintf(stderr, "k80-owner: %s: %s\n", a->input, strerror(errno));
		return -errno;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *device = getenv("BARSWAP_DEVICE");
	struct args a = {
		.session = { .device = device ? device : DEFAULT_DEV,
			     .n_dies = 6,
			     .say = say },
	};
	struct session *s;
	int ret;

	ret = parse(argc, argv, &a);
	if (ret >= 0)
		return ret;
	signal(SIGPIPE, SIG_IGN);
	if (open_files(&a))
		return EXIT_FAILURE;
	ret = session_open(&s, &a.session);
	if (ret) {
		fprintf(stderr,
			"k80-owner: %s: %s: load the module (modprobe bar_swap), or try --device=none or --device=sim\n",
			a.session.device, strerror(-ret));
		return EXIT_FAILURE;
	}
	say("ready");
	if (a.input)
		serve_fifo(s, a.input);
	else
		serve(s, STDIN_FILENO);
	say("end: the slot stays as it is");
	/* a driver's teardown of contexts needs a window on each of them: what
	 * is released first falls off the bus */
	fflush(NULL);
	_Exit(EXIT_SUCCESS);
}
