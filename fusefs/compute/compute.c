/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compute/compute.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/util.h"
#include "compute/ctl.h"
#include "text/ctl.h"

#define POLL_NS (NSEC_PER_MSEC) /* between two looks at a kernel that runs */

/* the same, when its end is of interest only to who wants memory back */
#define RELEASE_NS (20 * NSEC_PER_MSEC)

/* of step(): nothing could be done now */
#define WAITS (-EAGAIN)

/**
 * struct compute_die - a die and its thread
 * @head:    requests, those that wait too; the thread alone takes out
 * @current: what the thread works on
 * @turn:    its place in the scheduler's queue while @is_parked; @turn_result
 *           counts once it is not parked any more
 * @log:     the newest lines; @text: the user's module, NULL for none
 */
struct compute_die {
	struct compute *c;
	unsigned int die;
	pthread_t thread;

	pthread_mutex_t lock; /* all below, but for @turn's inside */
	pthread_cond_t wake;
	pthread_cond_t turned;
	struct compute_req *head;
	struct compute_req **tail;
	struct compute_req *current;
	struct sched_req turn;
	bool is_parked;
	int turn_result;
	bool is_ending; /* nothing is begun any more */
	bool is_stopping;
	char log[COMPUTE_LOG_MAX];
	size_t log_len;
	char *text;
	size_t text_len;
};

struct compute {
	struct compute_config cfg;
	struct owner *owner;
	unsigned int n_started;
	struct compute_die dies[OWNER_MAX_DIES];
};

/* ---- the slot -------------------------------------------------------------- */

static void on_turn(struct sched_req *turn, int result)
{
	struct compute_die *d = container_of(turn, struct compute_die, turn);

	pthread_mutex_lock(&d->lock);
	d->turn_result = result;
	d->is_parked = false;
	pthread_cond_signal(&d->turned);
	pthread_mutex_unlock(&d->lock);
}

static int window_enter(void *arg, unsigned int die)
{
	struct compute *c = arg;
	struct compute_die *d = &c->dies[die];
	int ret;

	memset(&d->turn, 0, sizeof(d->turn));
	d->turn.op = SCHED_IO;
	d->turn.die = (int)die;
	d->turn.wait_ns = c->cfg.wait_ns;
	d->turn.nowait = d->current->nowait;
	d->turn.resume = on_turn;
	ret = sched_try(c->cfg.sched, &d->turn);
	if (ret != -EAGAIN)
		return ret;

	pthread_mutex_lock(&d->lock);
	d->is_parked = true;
	if (d->current->interrupted || d->is_ending)
		sched_interrupt(c->cfg.sched, &d->turn);
	pthread_mutex_unlock(&d->lock);
	sched_park(c->cfg.sched, &d->turn);
	pthread_mutex_lock(&d->lock);
	while (d->is_parked)
		pthread_cond_wait(&d->turned, &d->lock);
	ret = d->turn_result;
	pthread_mutex_unlock(&d->lock);
	return ret;
}

static void window_leave(void *arg, unsigned int die)
{
	struct compute *c = arg;

	sched_put(c->cfg.sched, die);
}

/* ---- the log --------------------------------------------------------------- */

/* Old lines go when there is no room. */
static void log_append_locked(struct compute_die *d, const char *line, size_t len)
{
	size_t cut = 0;

	while (d->log_len - cut + len > sizeof(d->log)) {
		const char *nl = memchr(d->log + cut, '\n', d->log_len - cut);

		cut = nl ? (size_t)(nl - d->log) + 1 : d->log_len;
	}
	memmove(d->log, d->log + cut, d->log_len - cut);
	d->log_len -= cut;
	memcpy(d->log + d->log_len, line, len);
	d->log_len += len;
}

static void on_log(void *arg, unsigned int die, const char *line)
{
	struct compute *c = arg;
	struct compute_die *d = &c->dies[die];
	char text[OWNER_LINE_LEN + 64];
	size_t len = owner_stamp(text, sizeof(text), line);

	pthread_mutex_lock(&d->lock);
	log_append_locked(d, text, len);
	pthread_mutex_unlock(&d->lock);
	c->cfg.logged(c->cfg.arg, die);
}

size_t compute_log(struct compute *c, unsigned int die, char *buf)
{
	struct compute_die *d = &c->dies[die];
	size_t len;

	pthread_mutex_lock(&d->lock);
	len = d->log_len;
	if (buf)
		memcpy(buf, d->log, len);
	pthread_mutex_unlock(&d->lock);
	return len;
}

/* ---- requests -------------------------------------------------------------- */

static int step_verify(struct compute_die *d)
{
	struct owner_result r;
	char line[OWNER_LINE_LEN];
	int ret = owner_verify(d->c->owner, d->die, &r);

	if (ret)
		return ret;
	snprintf(line, sizeof(line),
		 "verify: %s, %zu of %u right, seed %u, iters %u, sync %llu ns",
		 r.n_wrong ? "FAIL" : "PASS", OWNER_FLOATS - r.n_wrong,
		 OWNER_FLOATS, r.seed, r.iters, (unsigned long long)r.sync_ns);
	on_log(d->c, d->die, line);
	return r.n_wrong ? -EIO : 0;
}

/* What stands between the kernel and the memory that is meant. */
static int place(struct compute_die *d, const struct compute_place *p,
		 struct owner_arg *arg)
{
	const struct compute_config *cfg = &d->c->cfg;
	struct owner_memory m;
	int ret;

	if (!cfg->memory)
		return -EOPNOTSUPP;
	ret = cfg->memory(cfg->arg, d->die, p->name, &m);
	if (ret)
		return ret;
	if (arg->bits < m.len)
		ret = owner_map(d->c->owner, d->die, &m, &arg->memory);
	else
		ret = -EINVAL;
	owner_memory_free(&m);
	return ret;
}

static int step_launch(struct compute_die *d, const struct compute_cmd *cmd)
{
	struct owner_launch launch = cmd->launch;

	for (unsigned int i = 0; i < launch.n_args; i++) {
		int ret = cmd->places[i].is_given
				  ? place(d, &cmd->places[i], &launch.args[i])
				  : 0;

		if (ret)
			return ret;
	}
	return owner_launch(d->c->owner, d->die, &launch);
}

static int step_kernels(struct compute_die *d)
{
	char line[OWNER_LINE_LEN], kernel[OWNER_LINE_LEN - 16];
	struct owner_view v;

	owner_view(d->c->owner, d->die, &v);
	if (v.state == OWNER_OFFLINE)
		return -ENXIO;
	for (unsigned int i = 0;
	     owner_signature(d->c->owner, d->die, i, kernel, sizeof(kernel));
	     i++) {
		snprintf(line, sizeof(line), "kernel %s", kernel);
		on_log(d->c, d->die, line);
	}
	return 0;
}

/* One command. */
static int step_cmd(struct compute_die *d, const struct compute_cmd *cmd)
{
	struct owner *o = d->c->owner;
	int ret;

	switch (cmd->verb) {
	case COMPUTE_BLANK:
		return 0;
	case COMPUTE_ONLINE:
		return owner_online(o, d->die);
	case COMPUTE_OFFLINE:
		return owner_offline(o, d->die);
	case COMPUTE_LAUNCH:
		return step_launch(d, cmd);
	case COMPUTE_KERNELS:
		return step_kernels(d);
	default:
		break;
	}
	ret = owner_poll(o, d->die);
	if (ret || cmd->verb == COMPUTE_SYNC)
		return ret;
	if (cmd->verb == COMPUTE_WORK)
		return owner_work(o, d->die, cmd->seed, cmd->iters, cmd->delay);
	return step_verify(d);
}

/* A failure that the owner knows nothing of belongs into the log too. */
static void log_refusal(struct compute_die *d, const char *what, size_t len,
			int err)
{
	char line[OWNER_LINE_LEN];

	snprintf(line, sizeof(line), "refused: %.*s: %s",
		 (int)MIN(len, (size_t)80), what,
		 err == -ENXIO ? "offline" : strerror(-err));
	on_log(d->c, d->die, line);
}

/* The lines of one write, from where it was left. */
static ssize_t step_ctl(struct compute_die *d, struct compute_req *req)
{
	while (req->pos < req->len) {
		const char *line = req->data + req->pos;
		size_t len = ctl_line(line, req->len - req->pos);
		struct compute_cmd cmd;
		int ret = compute_parse(line, len, &cmd);

		if (!ret)
			ret = step_cmd(d, &cmd);
		if (ret == WAITS && !req->nowait)
			return WAITS;
		if (ret) {
			if (ret != WAITS)
				log_refusal(d, line,
					    len - (line[len - 1] == '\n'), ret);
			return req->pos ? (ssize_t)req->pos : ret;
		}
		req->pos += len;
	}
	return (ssize_t)req->pos;
}

static ssize_t step_load(struct compute_die *d, struct compute_req *req)
{
	char *text = malloc(req->len ? req->len : 1);
	char *old;
	int ret;

	if (!text)
		return -ENOMEM;
	memcpy(text, req->data, req->len);
	ret = memchr(text, '\0', req->len)
		      ? -EINVAL
		      : owner_load(d->c->owner, d->die, text, req->len);
	if (ret) {
		log_refusal(d, "module", strlen("module"), ret);
		free(text);
		return ret;
	}
	pthread_mutex_lock(&d->lock);
	old = d->text;
	d->text = text;
	d->text_len = req->len;
	pthread_mutex_unlock(&d->lock);
	free(old);
	return 0;
}

/* All that needs an idle die. */
static ssize_t step_idle(struct compute_die *d, struct compute_req *req)
{
	struct owner *o = d->c->owner;
	int ret;

	ret = owner_poll(o, d->die);
	if (ret)
		return ret;
	switch (req->op) {
	case COMPUTE_LOAD:
		return step_load(d, req);
	case COMPUTE_READ:
		ret = owner_read(o, d->die, req->buffer, req->off, req->data,
				 req->len);
		break;
	default:
		ret = owner_write(o, d->die, req->buffer, req->off, req->data,
				  req->len);
		break;
	}
	return ret ? ret : (ssize_t)req->len;
}

/* Returns its result, or WAITS. */
static ssize_t step(struct compute_die *d, struct compute_req *req)
{
	if (req->interrupted)
		return req->pos ? (ssize_t)req->pos : -EINTR;
	return req->op == COMPUTE_CTL ? step_ctl(d, req) : step_idle(d, req);
}

/* ---- the thread ------------------------------------------------------------ */

/* Every request one step on. Returns whether some wait. */
static bool run_queue_locked(struct compute_die *d)
{
	struct compute_req **link = &d->head;
	struct compute_req *req;

	while ((req = *link)) {
		bool is_ending = d->is_ending;
		ssize_t ret;

		d->current = req;
		pthread_mutex_unlock(&d->lock);
		ret = is_ending ? -ENODEV : step(d, req);
		pthread_mutex_lock(&d->lock);
		d->current = NULL;
		if (ret == WAITS && !req->nowait) {
			link = &req->next;
			continue;
		}
		*link = req->next;
		if (d->tail == &req->next)
			d->tail = link;
		pthread_mutex_unlock(&d->lock);
		req->answer(req, ret);
		pthread_mutex_lock(&d->lock);
	}
	return d->head != NULL;
}

/* Give a file's memory back once what it was mapped for has ended. Returns
 * whether that is yet to come, and nobody asks for anything. */
static bool release_locked(struct compute_die *d)
{
	struct owner *o = d->c->owner;
	int ret;

	if (d->head || !owner_has_ranges(o, d->die))
		return false;
	pthread_mutex_unlock(&d->lock);
	ret = owner_unmap(o, d->die);
	pthread_mutex_lock(&d->lock);
	return ret == -EAGAIN && !d->head;
}

static void nap_locked(struct compute_die *d, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ns;
	if (until.tv_nsec >= (long)NSEC_PER_SEC) {
		until.tv_nsec -= NSEC_PER_SEC;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&d->wake, &d->lock, &until);
}

static void *die_thread(void *arg)
{
	struct compute_die *d = arg;

	pthread_mutex_lock(&d->lock);
	while (!d->is_stopping || d->head) {
		if (run_queue_locked(d))
			nap_locked(d, POLL_NS);
		else if (!d->is_stopping && release_locked(d))
			nap_locked(d, RELEASE_NS);
		else if (d->head)
			continue;
		else if (!d->is_stopping)
			pthread_cond_wait(&d->wake, &d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

void compute_submit(struct compute *c, struct compute_req *req)
{
	struct compute_die *d = &c->dies[req->die];

	req->next = NULL;
	pthread_mutex_lock(&d->lock);
	*d->tail = req;
	d->tail = &req->next;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
}

void compute_interrupt(struct compute *c, struct compute_req *req)
{
	struct compute_die *d = &c->dies[req->die];

	req->interrupted = true;
	pthread_mutex_lock(&d->lock);
	if (d->is_parked && d->current == req)
		sched_interrupt(c->cfg.sched, &d->turn);
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
}

static int start_die(struct compute *c, unsigned int die)
{
	struct compute_die *d = &c->dies[die];
	pthread_condattr_t attr;
	int ret;

	d->c = c;
	d->die = die;
	d->tail = &d->head;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, &attr);
	pthread_cond_init(&d->turned, &attr);
	pthread_condattr_destroy(&attr);
	ret = pthread_create(&d->thread, NULL, die_thread, d);
	if (!ret) {
		c->n_started++;
		return 0;
	}
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->turned);
	return -ret;
}

int compute_start(struct compute **out, const struct compute_config *cfg)
{
	struct compute *c = calloc(1, sizeof(*c));
	struct owner_config oc = {
		.n_dies = cfg->n_dies,
		.is_streams = cfg->is_streams,
		.node = cfg->node,
		.bdf = cfg->bdf,
		.uuid = cfg->uuid,
		.lease_fd = cfg->lease_fd,
		.log = on_log,
		.log_arg = c,
	};
	int ret;

	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	if (cfg->has_slot)
		oc.window =
			(struct owner_window){ window_enter, window_leave, c };
	ret = owner_open(&c->owner, &oc);
	for (unsigned int die = 0; !ret && die < cfg->n_dies; die++)
		ret = start_die(c, die);
	if (ret)
		compute_stop(c);
	else
		*out = c;
	return ret;
}

static void end_dies(struct compute *c, bool is_stopping)
{
	for (unsigned int die = 0; die < c->n_started; die++) {
		struct compute_die *d = &c->dies[die];

		pthread_mutex_lock(&d->lock);
		d->is_ending = true;
		d->is_stopping = is_stopping;
		if (d->is_parked)
			sched_interrupt(c->cfg.sched, &d->turn);
		pthread_cond_signal(&d->wake);
		pthread_mutex_unlock(&d->lock);
	}
}

void compute_end(struct compute *c)
{
	if (c)
		end_dies(c, false);
}

void compute_stop(struct compute *c)
{
	if (!c)
		return;
	end_dies(c, true);
	for (unsigned int die = 0; die < c->n_started; die++)
		pthread_join(c->dies[die].thread, NULL);
	/* it logs the end of each worker */
	if (owner_free(c->owner))
		log_warn("compute: a worker is left that waits for the slot");
	for (unsigned int die = 0; die < c->n_started; die++) {
		struct compute_die *d = &c->dies[die];

		pthread_mutex_destroy(&d->lock);
		pthread_cond_destroy(&d->wake);
		pthread_cond_destroy(&d->turned);
		free(d->text);
	}
	free(c);
}

/* ---- what can be seen ------------------------------------------------------ */

size_t compute_status(struct compute *c, unsigned int die, char *buf)
{
	static const char *const states[] = {
		[OWNER_OFFLINE] = "offline",
		[OWNER_IDLE] = "idle",
		[OWNER_RUNNING] = "running",
		[OWNER_FAILED] = "failed",
	};
	char kernels[COMPUTE_STATUS_MAX / 2];
	struct owner_view v;

	owner_view(c->owner, die, &v);
	owner_list(c->owner, die, kernels, sizeof(kernels));
	for (char *p = v.error; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return (size_t)snprintf(
		buf, COMPUTE_STATUS_MAX,
		"die %u\n"
		"state %s\n"
		"mode %s\n"
		"device %d\n"
		"device_name %s\n"
		"buffer_bytes %zu\n"
		"module %s\n"
		"kernels %s\n"
		"kernel %s\n"
		"launches %-20llu\n"
		"verified %s\n"
		"sync_ns %-20llu\n"
		"last_error %s\n",
		die, states[v.state], c->cfg.is_streams ? "streams" : "contexts",
		v.device, *v.device_name ? v.device_name : "none", OWNER_BYTES,
		v.state == OWNER_OFFLINE ? "none"
		: v.has_module           ? "user"
					 : "builtin",
		*kernels ? kernels : "none", *v.kernel ? v.kernel : "none",
		(unsigned long long)v.launches,
		v.verified < 0 ? "none"
		: v.verified   ? "PASS"
			       : "FAIL",
		(unsigned long long)v.sync_ns, *v.error ? v.error : "none");
}

ssize_t compute_module(struct compute *c, unsigned int die, char **text)
{
	struct compute_die *d = &c->dies[die];
	const char *from;
	struct owner_view v;
	ssize_t len;

	owner_view(c->owner, die, &v);
	pthread_mutex_lock(&d->lock);
	from = v.has_module && d->text ? d->text : owner_builtin();
	len = from == d->text ? (ssize_t)d->text_len : (ssize_t)strlen(from);
	if (text) {
		*text = malloc((size_t)len + 1);
		if (*text)
			memcpy(*text, from, (size_t)len);
		else
			len = -ENOMEM;
	}
	pthread_mutex_unlock(&d->lock);
	return len;
}
