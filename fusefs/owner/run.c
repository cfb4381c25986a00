/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels of a die that is online: launch, ask whether they have ended.
 */
#include "owner/owner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "owner/priv.h"
#include "owner/work.h"

/* A kernel that failed leaves no mark: ask the stream that often. Rarely where
 * asking moves the slot. */
#define QUERY_NS      (1 * NSEC_PER_MSEC)
#define QUERY_SLOT_NS (1 * NSEC_PER_SEC)

int owner_check_online(const struct owner_die *d)
{
	if (d->view.state == OWNER_OFFLINE)
		return -ENXIO;
	return d->view.state == OWNER_FAILED ? -EIO : 0;
}

static bool is_marked(struct owner_die *d)
{
	bool marked;

	pthread_mutex_lock(&d->lock);
	marked = owner_is_marked_locked(d);
	pthread_mutex_unlock(&d->lock);
	return marked;
}

int owner_poll(struct owner *o, unsigned int die)
{
	struct owner_die *d = &o->dies[die];
	uint64_t now = now_ns();
	CUresult err;
	int ret;

	ret = owner_check_online(d);
	if (ret || d->view.state == OWNER_IDLE)
		return ret;
	if (!is_marked(d) && now < d->query_at)
		return -EAGAIN;
	d->query_at = now + (o->cfg.window.enter ? QUERY_SLOT_NS : QUERY_NS);

	ret = owner_use(o, die);
	if (ret)
		return ret;
	err = cuda.cuStreamQuery(d->stream);
	if (err == CUDA_ERROR_NOT_READY)
		ret = -EAGAIN;
	else if (err)
		ret = owner_failed(o, die, "cuStreamQuery", err);
	else
		owner_set_state(d, OWNER_IDLE);
	owner_leave(o, die);
	return ret;
}

/* Returns 0 if nothing runs. */
int owner_check_idle(struct owner *o, unsigned int die)
{
	int ret = owner_poll(o, die);

	return ret == -EAGAIN ? -EBUSY : ret;
}

static const struct ptx_kernel *find_in(const struct owner_module *m,
					const char *name)
{
	for (unsigned int i = 0; i < m->n_kernels; i++)
		if (!strcmp(m->kernels[i].name, name))
			return &m->kernels[i];
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

/* Behind everything queued so far the GPU writes a new mark. */
static CUresult queue_mark(struct owner_die *d)
{
	unsigned char want = (unsigned char)(d->mark_want + 1);
	CUresult err;

	pthread_mutex_lock(&d->lock);
	d->mark_want = want;
	d->view.state = OWNER_RUNNING;
	pthread_mutex_unlock(&d->lock);
	d->query_at = 0;
	err = cuda.cuMemsetD8Async(d->mark, want, 1, d->stream);
	if (err)
		return err;
	return cuda.cuMemcpyDtoHAsync_v2(d->done, d->mark, 1, d->stream);
}

/* In the window. */
static int launch(struct owner *o, unsigned int die, const struct owner_launch *l)
{
	struct owner_die *d = &o->dies[die];
	const struct owner_module *m = &d->user;
	const struct ptx_kernel *k = find_in(m, l->kernel);
	uint64_t values[PTX_MAX_PARAMS];
	void *args[PTX_MAX_PARAMS];
	CUfunction fn;
	CUresult err;
	int ret;

	if (!k) {
		m = &d->builtin;
		k = find_in(m, l->kernel);
	}
	if (!k) {
		owner_blame(o, die, "launch: no kernel %s", l->kernel);
		return -ENOENT;
	}
	ret = check_args(o, die, k, l);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < l->n_args; i++) {
		const struct owner_arg *a = &l->args[i];

		values[i] = a->is_buffer ? d->buffer[a->buffer] : a->bits;
		args[i] = &values[i];
	}
	err = cuda.cuModuleGetFunction(&fn, m->module, l->kernel);
	if (err)
		return owner_failed(o, die, "cuModuleGetFunction", err);
	err = cuda.cuLaunchKernel(fn, l->grid[0], l->grid[1], l->grid[2],
				  l->block[0], l->block[1], l->block[2], 0,
				  d->stream, args, NULL);
	if (err)
		return owner_failed(o, die, "cuLaunchKernel", err);
	err = queue_mark(d);
	if (err)
		return owner_failed(o, die, "mark behind a kernel", err);
	pthread_mutex_lock(&d->lock);
	d->view.launches++;
	strcpy(d->view.kernel, l->kernel);
	pthread_mutex_unlock(&d->lock);
	owner_say(o, die, "launched %s", l->kernel);
	return 0;
}

int owner_launch(struct owner *o, unsigned int die, const struct owner_launch *l)
{
	int ret;

	ret = owner_check_online(&o->dies[die]);
	if (ret)
		return ret;
	ret = owner_use(o, die);
	if (ret)
		return ret;
	o->dies[die].has_work = false;
	ret = launch(o, die, l);
	owner_leave(o, die);
	return ret;
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
	CUresult err;
	int ret;

	if (iters > WORK_MAX_ITERS)
		return -EINVAL;
	ret = owner_check_idle(o, die);
	if (ret)
		return ret;
	work_fill(d->stage, OWNER_FLOATS, seed);
	ret = owner_use(o, die);
	if (ret)
		return ret;
	d->has_work = false;
	err = cuda.cuMemcpyHtoDAsync_v2(d->buffer[OWNER_IN], d->stage,
					OWNER_BYTES, d->stream);
	if (err)
		ret = owner_failed(o, die, "cuMemcpyHtoDAsync", err);
	else
		ret = launch(o, die, &l);
	owner_leave(o, die);
	if (ret)
		return ret;
	d->seed = seed;
	d->iters = iters;
	d->has_work = true;
	return 0;
}
