/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels of a die that is online: launch, ask whether they have ended.
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "owner/priv.h"
#include "owner/work.h"

/* A kernel that failed leaves no mark: ask the stream that often. Rarely where
 * asking moves the slot. */
#define QUERY_NS      (1 * NSEC_PER_MSEC)
#define QUERY_SLOT_NS (1 * NSEC_PER_SEC)

int owner_check_online(struct owner_die *d)
{
	enum owner_state state = owner_state(d);

	if (state == OWNER_OFFLINE)
		return -ENXIO;
	return state == OWNER_FAILED ? -EIO : 0;
}

int owner_poll(struct owner *o, unsigned int die)
{
	struct wire_request req = { .op = WIRE_POLL };
	struct owner_die *d = &o->dies[die];
	struct wire_reply reply;
	uint64_t now = now_ns();
	int ret;

	ret = owner_check_online(d);
	if (ret || owner_state(d) == OWNER_IDLE)
		return ret;
	/* nothing that failed leaves a mark, so there is nothing to ask */
	if (owner_is_marked(d)) {
		owner_set_state(d, OWNER_IDLE);
		return 0;
	}
	owner_check_alive(o, die);
	ret = owner_check_online(d);
	if (ret)
		return ret;
	if (now < d->query_at)
		return -EAGAIN;
	d->query_at = now + (o->cfg.window.enter ? QUERY_SLOT_NS : QUERY_NS);

	ret = owner_enter(o, die);
	if (ret)
		return ret;
	ret = owner_call(o, die, &req, &reply);
	owner_leave(o, die);
	if (!ret)
		owner_set_state(d, OWNER_IDLE);
	return ret;
}

/* Returns 0 if nothing runs. */
int owner_check_idle(struct owner *o, unsigned int die)
{
	int ret = owner_poll(o, die);

	return ret == -EAGAIN ? -EBUSY : ret;
}

static const struct ptx_kernel *find_in(const struct owner_kernels *m,
					const char *name)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (!strcmp(m->list[i].name, name))
			return &m->list[i];
	return NULL;
}

static const char *type_name(enum ptx_type type)
{
	static const char *const names[] = {
		[PTX_OTHER] = "a structure",
		[PTX_INT32] = "32-bit integer",
		[PTX_INT64] = "64-bit integer or a buffer",
		[PTX_FLOAT32] = "f32",
		[PTX_FLOAT64] = "f64",
	};

	return names[type];
}

static int check_args(struct owner *o, unsigned int die,
		      const struct ptx_kernel *k, const struct owner_launch *l)
{
	if (k->n_params != l->n_args) {
		owner_blame(o, die, "launch: %s takes %u arguments, not %u",
			    k->name, k->n_params, l->n_args);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < l->n_args; i++) {
		if (k->params[i] == l->args[i].type && k->params[i] != PTX_OTHER)
			continue;
		owner_blame(o, die, "launch: argument %u of %s is %s", i + 1,
			    k->name, type_name(k->params[i]));
		return -EINVAL;
	}
	return 0;
}

/* What is asked for, or why not. */
static int prepare(struct owner *o, unsigned int die,
		   const struct owner_launch *l, struct wire_request *req)
{
	struct owner_die *d = &o->dies[die];
	const struct ptx_kernel *k = find_in(&d->user, l->kernel);

	*req = (struct wire_request){ .op = WIRE_LAUNCH,
				      .is_user = k != NULL,
				      .launch = *l };
	if (!k)
		k = find_in(&d->builtin, l->kernel);
	if (!k) {
		owner_blame(o, die, "launch: no kernel %s", l->kernel);
		return -ENOENT;
	}
	return check_args(o, die, k, l);
}

/* In the window. Behind all that was queued the GPU writes a new mark. */
static int launch(struct owner *o, unsigned int die, struct wire_request *req)
{
	struct owner_die *d = &o->dies[die];
	struct wire_reply reply = { 0 };
	enum owner_state before;
	int ret;

	pthread_mutex_lock(&d->lock);
	before = d->view.state;
	d->mark_want++;
	d->view.state = OWNER_RUNNING;
	pthread_mutex_unlock(&d->lock);
	d->query_at = 0;
	req->mark = d->mark_want;
	ret = owner_call(o, die, req, &reply);
	if (ret && !reply.value) {
		/* nothing was queued; what ran before has the mark before */
		pthread_mutex_lock(&d->lock);
		d->mark_want--;
		if (d->view.state == OWNER_RUNNING)
			d->view.state = before;
		pthread_mutex_unlock(&d->lock);
	}
	if (ret)
		return ret;
	pthread_mutex_lock(&d->lock);
	d->view.launches++;
	strcpy(d->view.kernel, req->launch.kernel);
	pthread_mutex_unlock(&d->lock);
	owner_say(o, die, "launched %s", req->launch.kernel);
	return 0;
}

int owner_launch(struct owner *o, unsigned int die, const struct owner_launch *l)
{
	struct wire_request req;
	int ret;

	ret = owner_check_online(&o->dies[die]);
	if (!ret)
		ret = prepare(o, die, l, &req);
	if (!ret)
		ret = owner_enter(o, die);
	if (ret)
		return ret;
	o->dies[die].has_work = false;
	ret = launch(o, die, &req);
	owner_leave(o, die);
	return ret;
}

static int fill_and_launch(struct owner *o, unsigned int die,
			   struct wire_request *req)
{
	struct wire_request fill = { .op = WIRE_FILL };
	struct wire_reply reply;
	int ret = owner_call(o, die, &fill, &reply);

	return ret ? ret : launch(o, die, req);
}

int owner_work(struct owner *o, unsigned int die, uint32_t seed, uint32_t iters,
	       uint64_t delay)
{
	const struct owner_launch l = {
		.kernel = "k80_add",
		.grid = { OWNER_WORK_BLOCKS, 1, 1 },
		.block = { OWNER_WORK_THREADS, 1, 1 },
		.n_args = 5,
		.args = {
			{ .is_buffer = true, .buffer = OWNER_IN, .type = PTX_INT64 },
			{ .is_buffer = true, .buffer = OWNER_OUT, .type = PTX_INT64 },
			{ .type = PTX_INT32, .bits = OWNER_FLOATS },
			{ .type = PTX_INT32, .bits = iters },
			{ .type = PTX_INT64, .bits = delay },
		},
	};
	struct owner_die *d = &o->dies[die];
	struct wire_request req;
	int ret;

	if (iters > WORK_MAX_ITERS)
		return -EINVAL;
	ret = owner_check_idle(o, die);
	if (!ret)
		ret = prepare(o, die, &l, &req);
	if (ret)
		return ret;
	work_fill((float *)d->shared->stage, OWNER_FLOATS, seed);
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	d->has_work = false;
	ret = fill_and_launch(o, die, &req);
	owner_leave(o, die);
	if (ret)
		return ret;
	d->seed = seed;
	d->iters = iters;
	d->has_work = true;
	return 0;
}
