/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers of dies: who has which, what is asked of them, what becomes of dies
 * whose worker is gone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/priv.h"

/* An orderly end takes the slot, and the driver's teardown behind that. */
#define END_NS (30 * NSEC_PER_SEC)

static unsigned int n_seats(const struct owner *o)
{
	return o->cfg.is_streams ? o->cfg.n_dies : 1;
}

static unsigned int seat_of(const struct owner *o, unsigned int die)
{
	return die - o->dies[die].group->first;
}

static void on_line(void *arg, unsigned int seat, const char *line, bool is_blame)
{
	struct owner_group *g = arg;

	if (is_blame)
		owner_blame(g->owner, g->first + seat, "%s", line);
	else
		owner_say(g->owner, g->first + seat, "%s", line);
}

/* Whether it was online with the group's worker, and is not now. */
static bool fail_locked(struct owner_group *g, struct owner_die *d)
{
	bool is_hit;

	pthread_mutex_lock(&d->lock);
	is_hit = d->serial == g->serial && d->view.state != OWNER_OFFLINE &&
		 d->view.state != OWNER_FAILED;
	if (is_hit)
		d->view.state = OWNER_FAILED;
	pthread_mutex_unlock(&d->lock);
	return is_hit;
}

static void fail_all_locked(struct owner_group *g, unsigned int asked)
{
	struct owner *o = g->owner;

	g->is_bad = true;
	for (unsigned int die = g->first; die < g->first + n_seats(o); die++)
		if (fail_locked(g, &o->dies[die]) && die != asked)
			owner_blame(o, die,
				    "its context was die %u's too: failed; online starts it again",
				    asked);
}

/* @n: of @fds; 0: a request without */
static int call_locked(struct owner *o, unsigned int die,
		       struct wire_request *req, const int *fds, unsigned int n,
		       struct wire_reply *reply)
{
	struct owner_group *g = o->dies[die].group;
	int ret;

	req->seat = seat_of(o, die);
	if (n)
		ret = worker_give(g->worker, req, fds, n, reply);
	else
		ret = worker_call(g->worker, req, reply);
	if (ret && ret != -EPIPE)
		return ret;
	if (ret) {
		owner_blame(o, die,
			    "its worker has died: failed; online starts it again");
		fail_all_locked(g, die);
		return -EIO;
	}
	if (reply->is_lost)
		fail_all_locked(g, die);
	return reply->result;
}

int owner_give(struct owner *o, unsigned int die, struct wire_request *req,
	       const int *fds, unsigned int n, struct wire_reply *reply)
{
	struct owner_die *d = &o->dies[die];
	struct owner_group *g = d->group;
	int ret = -EIO;

	pthread_mutex_lock(&g->lock);
	if (g->worker && !g->is_bad && d->serial == g->serial)
		ret = call_locked(o, die, req, fds, n, reply);
	pthread_mutex_unlock(&g->lock);
	return ret;
}

int owner_call(struct owner *o, unsigned int die, struct wire_request *req,
	       struct wire_reply *reply)
{
	return owner_give(o, die, req, NULL, 0, reply);
}

void owner_check_alive(struct owner *o, unsigned int die)
{
	struct owner_group *g = o->dies[die].group;

	pthread_mutex_lock(&g->lock);
	if (g->worker && !g->is_bad && worker_is_gone(g->worker)) {
		owner_blame(o, die,
			    "its worker has died: failed; online starts it again");
		fail_all_locked(g, die);
	}
	pthread_mutex_unlock(&g->lock);
}

/* ---- start and end --------------------------------------------------------- */

/* "GPU-01234567-...", which every driver takes that says a UUID. */
static void uuid_text(const uint8_t *uuid, char *buf, size_t len)
{
	size_t at = (size_t)snprintf(buf, len, "GPU-");

	for (int i = 0; i < 16; i++)
		at += (size_t)snprintf(
			buf + at, len - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			uuid[i]);
}

/* The device of @die for a process that is to see nothing else; "" all. */
static void choose_device(const struct owner *o, unsigned int die, char *buf,
			  size_t len)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	unsigned int n = die % (unsigned int)o->n_devices;

	if (o->cfg.uuid) {
		uuid_text(o->cfg.uuid[die], buf, len);
		return;
	}
	if (!list) {
		snprintf(buf, len, "%u", n);
		return;
	}
	/* ours is the nth of those that we may see */
	while (n-- && (list = strchr(list, ',')))
		list++;
	snprintf(buf, len, "%.*s", list ? (int)strcspn(list, ",") : 0,
		 list ? list : "");
}

static int start(struct owner *o, unsigned int die, bool is_all,
		 struct worker **out, int *count)
{
	struct owner_group *g = o->dies[die].group;
	char devices[128] = "";
	const struct worker_start how = {
		.die = die,
		.n_seats = n_seats(o),
		.seat = seat_of(o, die),
		.memory = g->memory,
		.node = o->cfg.node,
		.bdf = o->cfg.node ? o->cfg.bdf[die] : NULL,
		.lease_fd = o->cfg.lease_fd,
		.devices = is_all || o->cfg.node ? NULL : devices,
		.log = on_line,
		.arg = g,
	};
	int ret;

	if (!is_all && !o->cfg.node)
		choose_device(o, die, devices, sizeof(devices));
	if (how.memory < 0) {
		owner_blame(o, die, "shared memory: %s", strerror(-how.memory));
		return how.memory;
	}
	owner_say(o, die, "start of k80-worker");
	ret = worker_start(out, &how, count);
	if (ret && !*out)
		owner_blame(o, die, "k80-worker: %s", strerror(-ret));
	return ret;
}

static int end(struct worker *w, uint64_t deadline)
{
	if (!w)
		return 0;
	worker_dismiss(w);
	return worker_free(w, deadline);
}

/* A worker that did not go may still write to what it has. */
static void make_memory_locked(struct owner_group *g)
{
	if (g->memory < 0)
		g->memory = worker_memory(n_seats(g->owner), &g->shared);
}

int owner_count_anew(struct owner *o, unsigned int die, int *count)
{
	struct owner_group *g = o->dies[die].group;
	bool is_all = !o->cfg.node;
	struct worker *w = NULL;
	int ret = is_all ? 0 : owner_enter(o, die);

	if (ret)
		return ret;
	pthread_mutex_lock(&g->lock);
	make_memory_locked(g);
	ret = start(o, die, is_all, &w, count);
	pthread_mutex_unlock(&g->lock);
	if (!is_all)
		owner_leave(o, die);
	if (end(w, now_ns() + END_NS))
		owner_blame(o, die, "its worker still waits for the slot");
	return ret;
}

int owner_join(struct owner *o, unsigned int die, struct wire_reply *reply)
{
	struct owner_die *d = &o->dies[die];
	struct owner_group *g = d->group;
	struct wire_request req = { .op = WIRE_ONLINE };
	int ret = 0;

	pthread_mutex_lock(&g->lock);
	make_memory_locked(g);
	if (!g->worker) {
		g->serial++;
		ret = start(o, die, o->cfg.is_streams, &g->worker, &g->found);
		g->is_bad = ret != 0;
	}
	if (!ret) {
		d->serial = g->serial;
		ret = call_locked(o, die, &req, NULL, 0, reply);
	}
	if (!ret) {
		pthread_mutex_lock(&d->lock);
		d->shared = &g->shared[seat_of(o, die)];
		d->shared->done = 0;
		d->mark_want = 0;
		pthread_mutex_unlock(&d->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return ret;
}

static void give_up_locked(struct owner_group *g, unsigned int die,
			   uint64_t deadline)
{
	if (!worker_free(g->worker, deadline)) {
		g->worker = NULL;
		return;
	}
	g->worker = NULL;
	close(g->memory);
	g->memory = -1;
	owner_blame(g->owner, die, "its worker still waits for the slot");
}

void owner_part(struct owner *o, unsigned int die)
{
	struct owner_group *g = o->dies[die].group;

	pthread_mutex_lock(&g->lock);
	if (g->worker && (g->is_bad || !o->cfg.is_streams)) {
		fail_all_locked(g, die);
		owner_say(o, die, "end of its worker");
		worker_dismiss(g->worker);
		give_up_locked(g, die, now_ns() + END_NS);
	}
	pthread_mutex_unlock(&g->lock);
}

void owner_tell_end(struct owner_group *g)
{
	if (!g->worker)
		return;
	owner_say(g->owner, g->first, "end of its worker");
	worker_dismiss(g->worker);
}

int owner_await_end(struct owner_group *g, uint64_t deadline)
{
	if (g->worker)
		give_up_locked(g, g->first, deadline);
	return g->memory < 0 && g->shared ? -ETIMEDOUT : 0;
}
