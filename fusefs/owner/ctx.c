/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contexts: which device a die is, what is made for it, modules.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "owner/kernels.h"
#include "owner/priv.h"

#define JIT_LOG_LEN 4096
#define MARK_LEN    256 /* the allocator's grain: a byte takes as much */

const char *owner_builtin(void)
{
	return kernels_ptx;
}

static int open_cuda_locked(struct owner *o, unsigned int die)
{
	char why[OWNER_LINE_LEN / 2];
	int ret = cuda_open(why, sizeof(why));

	if (!ret)
		return 0;
	owner_blame(o, die, "cannot open CUDA: %s", why);
	return -ENODEV;
}

int owner_count(struct owner *o, unsigned int die, int *count)
{
	CUresult err;
	int ret;

	pthread_mutex_lock(&o->lock);
	ret = open_cuda_locked(o, die);
	pthread_mutex_unlock(&o->lock);
	if (ret)
		return ret;
	err = cuda.cuDeviceGetCount(count);
	return err ? owner_failed(o, die, "cuDeviceGetCount", err) : 0;
}

/* The device with the PCI address of the die. */
static int device_at(struct owner *o, unsigned int die, int count)
{
	char bdf[32];
	CUdevice dev;

	for (int i = 0; i < count; i++)
		if (!cuda.cuDeviceGet(&dev, i) &&
		    !cuda.cuDeviceGetPCIBusId(bdf, sizeof(bdf), dev) &&
		    !strcasecmp(bdf, o->cfg.bdf[die]))
			return i;
	owner_blame(o, die,
		    "none of the %d CUDA devices is %s; those that are bound to the driver later are seen by a new process only",
		    count, o->cfg.bdf[die]);
	return -ENODEV;
}

static int find_device(struct owner *o, unsigned int die, CUdevice *dev,
		       int *ordinal)
{
	CUresult err;
	int count = 0;
	int ret;

	ret = owner_count(o, die, &count);
	if (ret)
		return ret;
	if (count <= 0) {
		owner_blame(o, die, "CUDA has no device");
		return -ENODEV;
	}
	ret = o->cfg.bdf ? device_at(o, die, count) : (int)die % count;
	if (ret < 0)
		return ret;
	err = cuda.cuDeviceGet(dev, ret);
	if (err)
		return owner_failed(o, die, "cuDeviceGet", err);
	*ordinal = ret;
	return 0;
}

/* A context that the die shares with others, or one of its own. */
static int join_ctx_locked(struct owner *o, unsigned int die, CUdevice dev,
			   int ordinal)
{
	struct owner_ctx *c;
	CUresult err;

	for (c = o->cfg.is_streams ? o->ctxs : NULL; c; c = c->next)
		if (c->device == ordinal && !c->is_bad)
			break;
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
		err = cuda.cuCtxCreate_v2(&c->ctx, CU_CTX_SCHED_BLOCKING_SYNC,
					  dev);
		if (err) {
			free(c);
			return owner_failed(o, die, "cuCtxCreate", err);
		}
		c->device = ordinal;
		c->next = o->ctxs;
		o->ctxs = c;
	}
	c->n_users++;
	o->dies[die].ctx = c;
	return 0;
}

static void leave_ctx_locked(struct owner *o, struct owner_die *d)
{
	struct owner_ctx *c = d->ctx, **link = &o->ctxs;

	d->ctx = NULL;
	if (!c || --c->n_users)
		return;
	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	cuda.cuCtxDestroy_v2(c->ctx);
	free(c);
}

/* The list of kernels changes under the lock, the driver is called without. */
static void replace(struct owner_die *d, struct owner_module *old,
		    const struct owner_module *fresh)
{
	CUmodule gone = old->module;

	pthread_mutex_lock(&d->lock);
	if (fresh)
		*old = *fresh;
	else
		memset(old, 0, sizeof(*old));
	pthread_mutex_unlock(&d->lock);
	if (gone)
		cuda.cuModuleUnload(gone);
}

/*
 * What was made of it, in reverse. On a context that failed every call does,
 * and it is the destruction of the context that frees.
 */
static void clear_die(struct owner *o, struct owner_die *d)
{
	void *done = d->done;

	pthread_mutex_lock(&d->lock);
	d->done = NULL;
	d->view.device = -1;
	d->view.has_module = false;
	pthread_mutex_unlock(&d->lock);

	/* what was queued may not run into memory that is gone */
	if (d->stream) {
		cuda.cuStreamSynchronize(d->stream);
		cuda.cuStreamDestroy_v2(d->stream);
	}
	replace(d, &d->user, NULL);
	replace(d, &d->builtin, NULL);
	if (d->stage)
		cuda.cuMemFreeHost(d->stage);
	if (done)
		cuda.cuMemFreeHost(done);
	for (int i = 0; i < 2; i++) {
		if (d->buffer[i])
			cuda.cuMemFree_v2(d->buffer[i]);
		d->buffer[i] = 0;
	}
	if (d->mark)
		cuda.cuMemFree_v2(d->mark);
	d->stage = NULL;
	d->mark = 0;
	d->stream = NULL;
	d->has_work = false;
	pthread_mutex_lock(&o->lock);
	leave_ctx_locked(o, d);
	pthread_mutex_unlock(&o->lock);
}

/* The compiler's complaints, a line of ours for each of its. */
static void say_lines(struct owner *o, unsigned int die, char *text)
{
	char *save, *line;

	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		owner_blame(o, die, "%s", line);
}

int owner_compile(struct owner *o, unsigned int die, const char *text,
		  size_t len, struct owner_module *module)
{
	char complaints[JIT_LOG_LEN] = "";
	int options[] = { CU_JIT_ERROR_LOG_BUFFER,
			  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { complaints, (void *)(uintptr_t)sizeof(complaints) };
	char *terminated = strndup(text, len);
	CUresult err;

	if (!terminated)
		return -ENOMEM;
	memset(module, 0, sizeof(*module));
	err = cuda.cuModuleLoadDataEx(&module->module, terminated,
				      ARRAY_SIZE(options), options, values);
	free(terminated);
	if (err) {
		module->module = NULL;
		complaints[sizeof(complaints) - 1] = '\0';
		say_lines(o, die, complaints);
		owner_failed(o, die, "cuModuleLoadDataEx", err);
		return cuda_errno(err) == -EIO ? -EINVAL : cuda_errno(err);
	}
	module->n_kernels = ptx_kernels(text, len, module->kernels);
	return 0;
}

static int make_buffers(struct owner *o, unsigned int die)
{
	struct owner_die *d = &o->dies[die];
	void *done = NULL;
	CUresult err;

	err = cuda.cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING);
	if (err)
		return owner_failed(o, die, "cuStreamCreate", err);
	for (int i = 0; i < 2; i++) {
		err = cuda.cuMemAlloc_v2(&d->buffer[i], OWNER_BYTES);
		if (err)
			return owner_failed(o, die, "cuMemAlloc", err);
		err = cuda.cuMemsetD8Async(d->buffer[i], 0, OWNER_BYTES,
					   d->stream);
		if (err)
			return owner_failed(o, die, "cuMemsetD8Async", err);
	}
	err = cuda.cuMemAlloc_v2(&d->mark, MARK_LEN);
	if (err)
		return owner_failed(o, die, "cuMemAlloc", err);
	err = cuda.cuMemAllocHost_v2(&d->stage, OWNER_BYTES);
	if (!err)
		err = cuda.cuMemAllocHost_v2(&done, MARK_LEN);
	if (err)
		return owner_failed(o, die, "cuMemAllocHost", err);
	memset(done, 0, MARK_LEN);
	pthread_mutex_lock(&d->lock);
	d->done = done;
	d->mark_want = 0;
	pthread_mutex_unlock(&d->lock);
	err = cuda.cuStreamSynchronize(d->stream);
	return err ? owner_failed(o, die, "cuStreamSynchronize", err) : 0;
}

static int make_die(struct owner *o, unsigned int die, CUdevice dev, int ordinal)
{
	struct owner_die *d = &o->dies[die];
	struct owner_module builtin;
	CUresult err;
	int ret;

	pthread_mutex_lock(&o->lock);
	ret = join_ctx_locked(o, die, dev, ordinal);
	pthread_mutex_unlock(&o->lock);
	if (ret)
		return ret;
	err = cuda.cuCtxSetCurrent(d->ctx->ctx);
	if (err)
		return owner_failed(o, die, "cuCtxSetCurrent", err);
	ret = make_buffers(o, die);
	if (ret)
		return ret;
	ret = owner_compile(o, die, kernels_ptx, sizeof(kernels_ptx) - 1,
			    &builtin);
	if (!ret)
		replace(d, &d->builtin, &builtin);
	return ret;
}

int owner_online(struct owner *o, unsigned int die)
{
	struct owner_die *d = &o->dies[die];
	bool had_failed = d->view.state == OWNER_FAILED;
	char name[sizeof(d->view.device_name)] = "";
	int ordinal = -1;
	CUdevice dev;
	int ret;

	if (d->view.state == OWNER_IDLE || d->view.state == OWNER_RUNNING)
		return 0;
	ret = owner_enter(o, die);
	if (ret)
		return ret;
	if (d->ctx)
		cuda.cuCtxSetCurrent(d->ctx->ctx);
	clear_die(o, d);
	owner_set_state(d, OWNER_OFFLINE);
	ret = find_device(o, die, &dev, &ordinal);
	if (!ret)
		ret = make_die(o, die, dev, ordinal);
	if (!ret && cuda.cuDeviceGetName(name, sizeof(name), dev))
		strcpy(name, "?");
	if (ret)
		clear_die(o, d);
	owner_leave(o, die);
	if (ret && had_failed) {
		owner_set_state(d, OWNER_FAILED);
		owner_blame(
			o, die,
			"CUDA gives this process no new context: start it again");
	}
	if (ret)
		return ret;

	pthread_mutex_lock(&d->lock);
	d->view.device = ordinal;
	strcpy(d->view.device_name, name);
	d->view.verified = -1;
	*d->view.error = '\0';
	pthread_mutex_unlock(&d->lock);
	owner_set_state(d, OWNER_IDLE);
	owner_say(o, die, "ok, device %d, %s%s", ordinal, name,
		  o->cfg.is_streams ? ", a stream" : "");
	return 0;
}

int owner_load(struct owner *o, unsigned int die, const char *text, size_t len)
{
	struct owner_die *d = &o->dies[die];
	struct owner_module fresh;
	int ret;

	if (len > OWNER_MAX_PTX)
		return -EFBIG;
	ret = owner_poll(o, die);
	if (ret)
		return ret == -EAGAIN ? -EBUSY : ret;
	ret = owner_use(o, die);
	if (ret)
		return ret;
	ret = owner_compile(o, die, text, len, &fresh);
	if (!ret)
		replace(d, &d->user, &fresh);
	owner_leave(o, die);
	if (ret)
		return ret;
	pthread_mutex_lock(&d->lock);
	d->view.has_module = true;
	pthread_mutex_unlock(&d->lock);
	owner_say(o, die, "module: %zu bytes, %u kernels", len, fresh.n_kernels);
	return 0;
}
