/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/session.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "cuda/cuda.h"
#include "lib/barswap.h"
#include "owner/bind.h"
#include "owner/owner.h"

#define POLL_NS NSEC_PER_MSEC /* between two looks at a kernel that runs */

extern char **environ;

struct session {
	struct session_config cfg;
	bs_context *bs; /* NULL: there is no slot */
	unsigned int n_dies;
	char bdf[OWNER_MAX_DIES][16];
	struct owner *owner;
	const char *doing; /* the command, for lines of the log */
};

static void __attribute__((format(printf, 2, 3)))
say(struct session *s, const char *fmt, ...)
{
	char line[2 * OWNER_LINE_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	s->cfg.say(line);
}

static void on_log(void *arg, unsigned int die, const char *line)
{
	struct session *s = arg;

	say(s, "%s %u: %s", s->doing, die, line);
}

static bool is_module(const struct session *s)
{
	return s->bs && !strcmp(bs_device_name(s->bs), "bar_swap");
}

/*
 * Die in, whatever drivers are bound: it is they who work. FORCE keeps the
 * regions of those that are out.
 */
static int acquire(struct session *s, unsigned int die, unsigned int flags)
{
	int ret = bs_acquire_flags(s->bs, (int)die, flags, NULL);

	if (ret == -EBUSY)
		ret = bs_acquire_flags(s->bs, (int)die, flags | BS_FORCE, NULL);
	return ret;
}

static int enter(void *arg, unsigned int die)
{
	struct session *s = arg;
	struct bs_info info;
	int ret = acquire(s, die, BS_LEASE);

	if (!ret)
		return 0;
	if (bs_die_info(s->bs, (int)die, &info))
		*info.last_error = '\0';
	say(s, "%s %u: acquire: %s %s", s->doing, die, strerror(-ret),
	    info.last_error);
	return ret;
}

static void leave(void *arg, unsigned int die)
{
	struct session *s = arg;

	bs_unlease(s->bs, (int)die);
}

static int open_device(struct session *s)
{
	struct bs_info info;

	s->n_dies = s->cfg.n_dies;
	if (!strcmp(s->cfg.device, "none"))
		return 0;
	s->bs = bs_init_device(s->cfg.device);
	if (!s->bs)
		return -errno;
	s->n_dies = MIN(bs_num_dies(s->bs), (uint32_t)OWNER_MAX_DIES);
	for (unsigned int die = 0; die < s->n_dies; die++)
		if (!bs_die_info(s->bs, (int)die, &info))
			memcpy(s->bdf[die], info.bdf, sizeof(info.bdf));
	return s->n_dies ? 0 : -ENODEV;
}

int session_open(struct session **out, const struct session_config *cfg)
{
	struct session *s = calloc(1, sizeof(*s));
	struct owner_config oc = { 0 };
	int ret;

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	ret = open_device(s);
	if (ret)
		goto out_free;
	oc.n_dies = s->n_dies;
	oc.is_streams = cfg->is_streams;
	oc.log = on_log;
	oc.log_arg = s;
	if (is_module(s))
		oc.bdf = (const char(*)[16])s->bdf;
	if (s->bs)
		oc.window = (struct owner_window){ enter, leave, s };
	ret = owner_open(&s->owner, &oc);
	if (ret)
		goto out_device;
	*out = s;
	return 0;

out_device:
	bs_free(s->bs);
out_free:
	free(s);
	return ret;
}

unsigned int session_dies(const struct session *s)
{
	return s->n_dies;
}

static void discover(struct session *s)
{
	static const char *const states[] = {
		[BS_STATE_IDLE] = "idle",
		[BS_STATE_ACTIVE] = "active",
		[BS_STATE_DEAD] = "dead",
		[BS_STATE_NO_VRAM] = "no_vram",
		[BS_STATE_UNUSABLE] = "unusable",
	};
	struct bs_info info;

	for (unsigned int die = 0; die < s->n_dies; die++) {
		if (!s->bs)
			say(s, "discover %u: a context of its own", die);
		else if (!bs_die_info(s->bs, (int)die, &info))
			say(s, "discover %u: %s %04x:%04x %s, driver %s", die,
			    info.bdf, info.vendor, info.device,
			    states[info.state],
			    *info.driver ? info.driver : "none");
	}
	say(s, "discover: %u dies, device %s", s->n_dies,
	    s->bs ? bs_device_name(s->bs) : "none");
}

/* On a card of ours the driver takes the die first; elsewhere it has it. */
static int bind(struct session *s, unsigned int die)
{
	const struct bind_env env = {
		.sysfs = "/sys",
		.modprobe = "modprobe",
		.n_dies = s->n_dies,
		.bdf = (const char(*)[16])s->bdf,
	};
	char why[OWNER_LINE_LEN] = "";
	int ret;

	if (!is_module(s))
		return 0;
	ret = enter(s, die);
	if (ret)
		return ret;
	ret = bind_die(&env, die, why, sizeof(why));
	if (ret)
		say(s, "%s %u: %s", s->doing, die, why);
	leave(s, die);
	return ret;
}

static int online(struct session *s, unsigned int die)
{
	int ret = bind(s, die);

	return ret ? ret : owner_online(s->owner, die);
}

/* The count as a process sees it that starts now: this program once more. */
static int count_anew(int *count)
{
	char *args[] = { "k80-owner", "--print-count", NULL };
	posix_spawn_file_actions_t actions;
	char text[16] = "";
	int fds[2], status = -1;
	pid_t pid;
	int ret;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	ret = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!ret) {
		if (read(fds[0], text, sizeof(text) - 1) < 0)
			ret = errno;
		waitpid(pid, &status, 0);
	}
	close(fds[0]);
	if (ret || status)
		return ret ? -ret : -ENODEV;
	*count = atoi(text);
	return 0;
}

static int probe(struct session *s, unsigned int die)
{
	int count = 0;
	int ret = bind(s, die);

	if (ret)
		return ret;
	if (s->bs)
		ret = enter(s, die);
	if (ret)
		return ret;
	ret = count_anew(&count);
	if (s->bs)
		leave(s, die);
	if (!ret)
		say(s, "probe %u: a new process sees %d CUDA devices", die,
		    count);
	return ret;
}

static int swap(struct session *s, unsigned int die)
{
	uint64_t start = now_ns();
	int ret;

	if (!s->bs) {
		say(s, "swap %u: there is no slot", die);
		return 0;
	}
	ret = acquire(s, die, 0);
	if (!ret)
		say(s, "swap %u: in the slot, %.3f ms", die,
		    (double)(now_ns() - start) / NSEC_PER_MSEC);
	return ret;
}

/* Until what runs has ended; there is nothing else to do meanwhile. */
static int wait_idle(struct session *s, unsigned int die)
{
	const struct timespec nap = { .tv_nsec = POLL_NS };
	int ret;

	while ((ret = owner_poll(s->owner, die)) == -EAGAIN)
		nanosleep(&nap, NULL);
	return ret;
}

static int work(struct session *s, const struct repl_cmd *cmd)
{
	int ret = wait_idle(s, cmd->die);

	if (!ret)
		ret = owner_work(s->owner, cmd->die, cmd->seed, cmd->iters,
				 cmd->delay);
	if (!ret)
		say(s, "work %u: %u floats, seed %u, iters %u, delay %llu",
		    cmd->die, OWNER_FLOATS, cmd->seed, cmd->iters,
		    (unsigned long long)cmd->delay);
	return ret;
}

static int read_back(struct session *s, unsigned int die)
{
	struct owner_result r;
	int ret = wait_idle(s, die);

	if (!ret)
		ret = owner_verify(s->owner, die, &r);
	if (!ret)
		say(s,
		    "read %u: %s %zu of %u right, seed %u, iters %u, sync %.3f ms",
		    die, r.n_wrong ? "FAIL" : "PASS", OWNER_FLOATS - r.n_wrong,
		    OWNER_FLOATS, r.seed, r.iters,
		    (double)r.sync_ns / NSEC_PER_MSEC);
	return ret;
}

static int count_devices(struct session *s)
{
	int count = 0;
	int ret = owner_count(s->owner, 0, &count);

	if (!ret)
		say(s, "count: %d CUDA devices", count);
	return ret;
}

static void status(struct session *s)
{
	static const char *const states[] = {
		[OWNER_OFFLINE] = "offline",
		[OWNER_IDLE] = "idle",
		[OWNER_RUNNING] = "running",
		[OWNER_FAILED] = "failed",
	};
	struct owner_view v;

	for (unsigned int die = 0; die < s->n_dies; die++) {
		owner_view(s->owner, die, &v);
		say(s, "status %u: %s, device %d, launches %llu, verified %s",
		    die, states[v.state], v.device,
		    (unsigned long long)v.launches,
		    v.verified < 0 ? "none"
		    : v.verified   ? "PASS"
				   : "FAIL");
	}
	say(s, "status: slot %d", s->bs ? bs_active_die(s->bs) : -1);
}

static void help(struct session *s)
{
	char *text = strdup(repl_help()), *save, *line;

	if (!text)
		return;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		say(s, "help: %s", line);
	free(text);
}

void session_run(struct session *s, const struct repl_cmd *cmd)
{
	static const char *const names[] = {
		[REPL_ONLINE] = "online", [REPL_PROBE] = "probe",
		[REPL_SWAP] = "swap",     [REPL_WORK] = "work",
		[REPL_READ] = "read",     [REPL_COUNT] = "count",
		[REPL_SHUTDOWN] = NULL, /* the last */
	};
	int ret = 0;

	s->doing = names[cmd->verb];
	switch (cmd->verb) {
	case REPL_BLANK:
	case REPL_SHUTDOWN:
		return;
	case REPL_DISCOVER:
		discover(s);
		return;
	case REPL_STATUS:
		status(s);
		return;
	case REPL_HELP:
		help(s);
		return;
	case REPL_ONLINE:
		ret = online(s, cmd->die);
		break;
	case REPL_PROBE:
		ret = probe(s, cmd->die);
		break;
	case REPL_SWAP:
		ret = swap(s, cmd->die);
		break;
	case REPL_WORK:
		ret = work(s, cmd);
		break;
	case REPL_READ:
		ret = read_back(s, cmd->die);
		break;
	case REPL_COUNT:
		ret = count_devices(s);
		break;
	}
	if (ret == -ENXIO)
		say(s, "%s %u: error: it is not online", s->doing, cmd->die);
	else if (ret)
		say(s, "%s %u: error: %s", s->doing, cmd->die, strerror(-ret));
}

int session_print_count(void)
{
	char why[OWNER_LINE_LEN];
	int count = 0;
	int ret = cuda_open(why, sizeof(why));

	if (!ret && cuda.cuDeviceGetCount(&count)) {
		snprintf(why, sizeof(why), "cuDeviceGetCount failed");
		ret = -EIO;
	}
	if (ret)
		fprintf(stderr, "k80-owner: %s\n", why);
	else
		printf("%d\n", count);
	return ret;
}
