/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "owner/owner.h"

#define POLL_NS NSEC_PER_MSEC /* between two looks at a kernel that runs */

struct session {
	struct session_config cfg;
	bs_context *bs; /* NULL: there is no slot */
	unsigned int n_dies;
	char bdf[OWNER_MAX_DIES][16];
	char *node; /* of the module, absolute; NULL: there is none */
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
	if (!s->n_dies)
		return -ENODEV;
	if (bs_lease_fd(s->bs) < 0)
		return 0;
	s->node = realpath(s->cfg.device, NULL);
	return s->node ? 0 : -errno;
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
		goto out_device;
	oc.n_dies = s->n_dies;
	oc.is_streams = cfg->is_streams;
	oc.log = on_log;
	oc.log_arg = s;
	oc.node = s->node;
	oc.bdf = (const char(*)[16])s->bdf;
	oc.lease_fd = bs_lease_fd(s->bs);
	if (s->bs)
		oc.window = (struct owner_window){ enter, leave, s };
	ret = owner_open(&s->owner, &oc);
	if (ret)
		goto out_device;
	*out = s;
	return 0;

out_device:
	bs_free(s->bs);
	free(s->node);
	free(s);
	return ret;
}

unsigned int session_dies(const struct session *s)
{
	return s->n_dies;
}

static int probe(struct session *s, unsigned int die)
{
	int count = 0;
	int ret = owner_probe(s->owner, die, &count);

	if (!ret)
		say(s, "probe %u: a new process sees %d CUDA devices", die,
		    count);
	return ret;
}

static int offline(struct session *s, unsigned int die)
{
	int ret = owner_offline(s->owner, die);

	if (!ret)
		say(s, "offline %u: ok", die);
	return ret;
}

static const char *state_name(const struct bs_info *info)
{
	static const char *const names[] = {
		[BS_STATE_IDLE] = "idle",
		[BS_STATE_ACTIVE] = "active",
		[BS_STATE_DEAD] = "dead",
		[BS_STATE_NO_VRAM] = "no_vram",
		[BS_STATE_UNUSABLE] = "unusable",
	};

	return names[info->state];
}

/* What the die is in once it is in. */
static int look(struct session *s, unsigned int die, struct bs_info *info)
{
	int ret = enter(s, die);

	if (ret)
		return ret;
	ret = bs_die_info(s->bs, (int)die, info);
	leave(s, die);
	return ret;
}

static int warm(struct session *s, unsigned int die)
{
	struct bs_info info;
	int ret;

	if (!s->node) {
		say(s, "warm %u: the module's dies alone are ever cold", die);
		return -EOPNOTSUPP;
	}
	ret = look(s, die, &info);
	if (!ret && info.state == BS_STATE_ACTIVE) {
		say(s, "warm %u: it has its memory", die);
		return 0;
	}
	if (!ret)
		ret = owner_warm(s->owner, die);
	if (!ret)
		ret = look(s, die, &info);
	if (ret)
		return ret;
	say(s, "warm %u: %s", die, state_name(&info));
	return info.state == BS_STATE_ACTIVE ? 0 : -EIO;
}

static void discover(struct session *s)
{
	struct bs_info info;

	for (unsigned int die = 0; die < s->n_dies; die++) {
		if (!s->bs)
			say(s, "discover %u: a context of its own", die);
		else if (!bs_die_info(s->bs, (int)die, &info))
			say(s, "discover %u: %s %04x:%04x %s, driver %s", die,
			    info.bdf, info.vendor, info.device, state_name(&info),
			    *info.driver ? info.driver : "none");
	}
	say(s, "discover: %u dies, device %s", s->n_dies,
	    s->bs ? bs_device_name(s->bs) : "none");
}

static int swap(struct session *s, unsigned int die)
{
	uint64_t start = now_ns();
	int ret;

	if (!s->bs) {
		say(s, "swap %u: there is no slot", die);
		return 0;
	}
	say(s, "swap %u: acquire", die);
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

	while ((ret = owner_poll(s->owner, die)) == -EAGAIN) {
		if (s->cfg.is_ended())
			return -EINTR;
		nanosleep(&nap, NULL);
	}
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
	return !ret && r.n_wrong ? -EIO : ret;
}

static int count_devices(struct session *s)
{
	int count = 0;
	int ret = owner_count(s->owner, &count);

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
	char modules[256];
	struct owner_view v;
	struct bs_info info;

	for (unsigned int die = 0; die < s->n_dies; die++) {
		if (!s->bs || bs_die_info(s->bs, (int)die, &info))
			memset(&info, 0, sizeof(info));
		owner_view(s->owner, die, &v);
		say(s,
		    "status %u: %s, %s, driver %s, device %d, launches %llu, verified %s",
		    die, states[v.state], *info.bdf ? info.bdf : "no address",
		    *info.driver ? info.driver : "none", v.device,
		    (unsigned long long)v.launches,
		    v.verified < 0 ? "none"
		    : v.verified   ? "PASS"
				   : "FAIL");
	}
	owner_modules(s->owner, modules, sizeof(modules));
	say(s, "status: slot %d, modules %s", s->bs ? bs_active_die(s->bs) : -1,
	    *modules ? modules : "none");
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

static int run(struct session *s, const struct repl_cmd *cmd)
{
	switch (cmd->verb) {
	case REPL_BLANK:
	case REPL_SHUTDOWN:
		return 0;
	case REPL_DISCOVER:
		discover(s);
		return 0;
	case REPL_STATUS:
		status(s);
		return 0;
	case REPL_HELP:
		help(s);
		return 0;
	case REPL_ONLINE:
		return owner_online(s->owner, cmd->die);
	case REPL_OFFLINE:
		return offline(s, cmd->die);
	case REPL_PROBE:
		return probe(s, cmd->die);
	case REPL_WARM:
		return warm(s, cmd->die);
	case REPL_SWAP:
		return swap(s, cmd->die);
	case REPL_WORK:
		return work(s, cmd);
	case REPL_READ:
		return read_back(s, cmd->die);
	case REPL_COUNT:
		return count_devices(s);
	}
	return -EINVAL;
}

static int run_and_say(struct session *s, const struct repl_cmd *cmd)
{
	int ret = run(s, cmd);

	if (ret == -ENXIO)
		say(s, "%s %u: error: it is not online", s->doing, cmd->die);
	else if (ret)
		say(s, "%s %u: error: %s", s->doing, cmd->die, strerror(-ret));
	return ret;
}

int session_run(struct session *s, const struct repl_cmd *cmd)
{
	struct repl_cmd one = *cmd;
	int ret = 0;

	s->doing = repl_name(cmd->verb);
	if (!cmd->is_all)
		return run_and_say(s, cmd);
	for (one.die = 0; one.die < s->n_dies; one.die++) {
		int err = run_and_say(s, &one);

		ret = ret ? ret : err;
	}
	return ret;
}

int session_close(struct session *s)
{
	int ret;

	s->doing = repl_name(REPL_SHUTDOWN);
	ret = owner_free(s->owner);
	bs_free(s->bs);
	free(s->node);
	free(s);
	return ret;
}
