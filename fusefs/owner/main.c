/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80-owner: a context on every die, driven by lines from stdin or a FIFO.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "owner/input.h"
#include "owner/owner.h"
#include "owner/session.h"
#include "text/words.h"

/* besides EXIT_FAILURE: it could not begin, log, or end in order */
#define EXIT_USAGE 2
#define EXIT_FAILED \
	3 /* a command was refused, failed, or found wrong results */

#define DEFAULT_DEV "/dev/bar_swap"

/* a garbage line is repeated in the log up to here */
#define SHOWN_BYTES 40

static int log_fd = STDOUT_FILENO;

static bool has_failed; /* some command */
static bool is_log_lost;

/* A signal asked for the end, or nobody can read any more what is done. */
static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP };
static volatile sig_atomic_t is_ended;

/* Returns 0 or -errno. */
static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += MAX(n, (ssize_t)0);
		len -= (size_t)MAX(n, (ssize_t)0);
	}
	return 0;
}

/* A line with the time before it, in one write. */
static void say(const char *line)
{
	char text[2 * OWNER_LINE_LEN + 64];
	size_t len = owner_stamp(text, sizeof(text), line);
	int ret = write_all(log_fd, text, len);

	if (!ret || is_log_lost)
		return;
	/* each step is to be in the log before it is done */
	is_log_lost = true;
	is_ended = 1;
	fprintf(stderr, "k80-owner: the log: %s\n", strerror(-ret));
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
	has_failed = true;
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
	if (session_run(s, &cmd))
		has_failed = true;
	return true;
}

static bool asked_to_end(void)
{
	return is_ended;
}

static void on_signal(int sig)
{
	(void)sig;
	is_ended = 1;
}

static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

/* They end a wait for a command or a kernel, and nothing else: every worker
 * must leave its die in order. */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		/* whoever ignored that one, nohup say, means it */
		if (end_signals[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaction(end_signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* a log that has grown to its limit is an error like any other */
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * Bytes of a command; 0 at the end, or when a signal asked for it. Only here
 * does one interrupt, and none slips in between the look and the wait.
 */
static ssize_t await_bytes(int fd, char *buf, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	sigset_t ends, before;
	ssize_t n = 0;
	int ret = 0;

	sigemptyset(&ends);
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		sigaddset(&ends, end_signals[i]);
	sigprocmask(SIG_BLOCK, &ends, &before);
	while (!is_ended && ret <= 0)
		ret = ppoll(&pfd, 1, NULL, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!is_ended)
		n = read(fd, buf, len);
	return n;
}

/*
 * Until shutdown, a signal, or the end of the input: a FIFO has none.
 * Returns 0, or -errno of the input.
 */
static int serve(struct session *s, int fd)
{
	struct repl_input in = { 0 };
	char buf[4096];
	ssize_t n;

	do {
		n = await_bytes(fd, buf, sizeof(buf));
		for (ssize_t i = 0; i < n; i++)
			if (is_ended ||
			    !take_line(s, &in, repl_push(&in, buf[i])))
				return 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return -errno;
	if (!is_ended)
		take_line(s, &in, repl_end(&in));
	return 0;
}

/* What is not open must not become the log or a device: it stays something
 * that cannot be read from, or written to. */
static int fill_standard_fds(void)
{
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < (int)ARRAY_SIZE(flags); fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
			return -errno;
	return 0;
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
		"  -i, --input=FIFO   read commands there, made if it is missing; yours, and\n"
		"                     writable by nobody else; default: standard input\n"
		"  -l, --log=FILE     append to FILE; default: standard output\n"
		"  -h, --help         this text\n"
		"  -V, --version      version\n"
		"\n"
		"Ends every worker in order, with its die in the slot, which stays as it is.\n"
		"Exit code: 0; 1 it could not begin, log or end; 2 bad arguments; 3 some\n"
		"command failed or found wrong results.\n");
}

struct args {
	struct session_config session;
	const char *input;
	const char *log;
};

/* What was asked for has been printed, unless it could not be. */
static int flush_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_SUCCESS;
	fprintf(stderr, "k80-owner: standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

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
			return flush_stdout();
		case 'V':
			printf("k80-owner %s\n", K80FS_VERSION);
			return flush_stdout();
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

/* Each line is on the disk before what it announces is done: a machine that
 * hangs in that leaves it behind. */
static int open_log(const char *path)
{
	log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_DSYNC | O_CLOEXEC,
		      0644);
	if (log_fd >= 0)
		return 0;
	fprintf(stderr, "k80-owner: %s: %s\n", path, strerror(errno));
	return -errno;
}

static int open_input(const char *path)
{
	char why[OWNER_LINE_LEN];
	int fd;

	if (!path)
		return STDIN_FILENO;
	fd = input_open(path, why, sizeof(why));
	if (fd < 0)
		fprintf(stderr, "k80-owner: %s\n", why);
	return fd;
}

static const char *advice(const char *device, int err)
{
	bool is_sim = !strncmp(device, "sim", 3) && strchr(":", device[3]);

	if (is_sim && err == EINVAL)
		return ": the options of sim are dies=, vram=, resmem=, swap_us=, dir= and ctl=, see libbarswap(3)";
	if (!strcmp(device, "none") || is_sim)
		return "";
	switch (err) {
	case EACCES:
	case EPERM:
		return ": run as root";
	case ENOTTY:
		return ": this is not the node of bar_swap";
	case EPROTO:
		return ": the module is of another version; install the one that came with k80-owner";
	default:
		return ": load the module (modprobe bar_swap), or try --device=none or --device=sim";
	}
}

int main(int argc, char **argv)
{
	const char *device = getenv("BARSWAP_DEVICE");
	struct args a = {
		.session = { .device = device ? device : DEFAULT_DEV,
			     .n_dies = 6,
			     .say = say,
			     .is_ended = asked_to_end },
	};
	struct session *s;
	int fd, ret, lost;

	ret = fill_standard_fds();
	if (ret) {
		fprintf(stderr, "k80-owner: /dev/null: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = parse(argc, argv, &a);
	if (ret >= 0)
		return ret;
	catch_signals();
	if (a.log && open_log(a.log))
		return EXIT_FAILURE;
	fd = open_input(a.input);
	if (fd < 0)
		return EXIT_FAILURE;
	ret = session_open(&s, &a.session);
	if (ret) {
		if (*bs_init_why())
			fprintf(stderr, "k80-owner: %s\n", bs_init_why());
		else
			fprintf(stderr, "k80-owner: %s: %s%s\n", a.session.device,
				strerror(-ret), advice(a.session.device, -ret));
		return EXIT_FAILURE;
	}
	say("ready");
	lost = serve(s, fd);
	if (lost)
		fprintf(stderr, "k80-owner: %s: %s\n",
			a.input ? a.input : "standard input", strerror(-lost));
	ret = session_close(s);
	say(ret ? "end: a worker is left that waits for the slot"
		: "end: the slot stays as it is");
	if (ret || lost || is_log_lost)
		return EXIT_FAILURE;
	return has_failed ? EXIT_FAILED : EXIT_SUCCESS;
}
