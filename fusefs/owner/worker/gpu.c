/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/gpu.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "cuda/cuda.h"
#include "owner/kernels.h"
#include "owner/worker/ranges.h"
#include "owner/worker/tell.h"

#define JIT_LOG_LEN 4096
#define MARK_LEN    256 /* the allocator's grain: a byte takes as much */
#define MAX_DEVICES 64

/**
 * struct seat - a die
 * @shared: pinned; NULL while it is not
 * @mark:   a byte of device memory, copied to @shared->done behind each kernel
 */
struct seat {
	bool is_online;
	CUdevice dev;
	CUcontext ctx;
	CUstream stream;
	struct range *ranges;
	CUdeviceptr buffer[2];
	CUdeviceptr mark;
	CUmodule builtin, user;
	struct wire_shared *shared;
};

static struct {
	struct seat seats[OWNER_MAX_DIES];
	CUcontext ctxs[MAX_DEVICES]; /* of each device */
	bool is_open;
	bool is_lost;
} gpu;

/*
 * A call was refused. If nothing works any more in the context, a kernel has
 * spoilt it, and often the process with it (CUDA 13,
 * CUDA_ERROR_ILLEGAL_ADDRESS: seen): only a new worker helps.
 */
static int failed(const struct seat *s, const char *what, CUresult err)
{
	CUresult now;

	tell_blame("%s: %s", what, cuda_name(err));
	if (!s->is_online)
		return cuda_errno(err);
	now = cuda.cuStreamQuery(s->stream);
	if (now == CUDA_SUCCESS || now == CUDA_ERROR_NOT_READY)
		return cuda_errno(err);
	gpu.is_lost = true;
	tell_blame("%s: %s: failed; online starts it again", what,
		   cuda_name(now));
	return -EIO;
}

bool gpu_is_lost(void)
{
	return gpu.is_lost;
}

int gpu_count(int *count)
{
	char why[WIRE_TEXT_LEN / 2];
	CUresult err;
	int ret;

	if (!gpu.is_open)
		tell_step("cuInit");
	ret = cuda_open(why, sizeof(why));
	gpu.is_open = !ret;
	if (ret) {
		tell_blame("cannot open CUDA: %s", why);
		return -ENODEV;
	}
	err = cuda.cuDeviceGetCount(count);
	if (!err)
		return 0;
	tell_blame("cuDeviceGetCount: %s", cuda_name(err));
	return cuda_errno(err);
}

/* It is the die's, or this process sees what it must not touch. */
static int check_address(CUdevice dev, int count, const char *bdf)
{
	char found[32] = "?";
	CUresult err = cuda.cuDeviceGetPCIBusId(found, sizeof(found), dev);

	if (!err && count == 1 && !strcasecmp(found, bdf))
		return 0;
	tell_blame("CUDA shows %d devices, the first at %s, where %s alone was to be seen",
		   count, found, bdf);
	return -ENODEV;
}

static int find_device(unsigned int seat, const char *bdf, CUdevice *dev,
		       int *ordinal)
{
	struct seat *s = &gpu.seats[seat];
	int count = 0, ret;
	CUresult err;

	ret = gpu_count(&count);
	if (ret)
		return ret;
	if (count <= 0 || count > MAX_DEVICES) {
		tell_blame("CUDA has %d devices", count);
		return -ENODEV;
	}
	*ordinal = (int)seat % count;
	err = cuda.cuDeviceGet(dev, *ordinal);
	if (err)
		return failed(s, "cuDeviceGet", err);
	return bdf ? check_address(*dev, count, bdf) : 0;
}

static int use(const struct seat *s)
{
	CUresult err = cuda.cuCtxSetCurrent(s->ctx);

	return err ? failed(s, "cuCtxSetCurrent", err) : 0;
}

/* Seats of one device are streams of one context. */
static int make_ctx(struct seat *s, CUdevice dev, int ordinal)
{
	CUresult err;

	if (!gpu.ctxs[ordinal]) {
		tell_step("cuCtxCreate");
		err = cuda.cuCtxCreate_v2(&gpu.ctxs[ordinal],
					  CU_CTX_SCHED_BLOCKING_SYNC, dev);
		if (err) {
			gpu.ctxs[ordinal] = NULL;
			return failed(s, "cuCtxCreate", err);
		}
	}
	s->dev = dev;
	s->ctx = gpu.ctxs[ordinal];
	return use(s);
}

static int make_buffers(struct seat *s, struct wire_shared *shared)
{
	CUresult err;

	tell_step("cuStreamCreate, cuMemAlloc, cuMemHostRegister");
	err = cuda.cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING);
	if (err)
		return failed(s, "cuStreamCreate", err);
	for (int i = 0; i < 2; i++) {
		err = cuda.cuMemAlloc_v2(&s->buffer[i], OWNER_BYTES);
		if (err)
			return failed(s, "cuMemAlloc", err);
		err = cuda.cuMemsetD8Async(s->buffer[i], 0, OWNER_BYTES,
					   s->stream);
		if (err)
			return failed(s, "cuMemsetD8Async", err);
	}
	err = cuda.cuMemAlloc_v2(&s->mark, MARK_LEN);
	if (err)
		return failed(s, "cuMemAlloc", err);
	err = cuda.cuMemHostRegister_v2(shared, sizeof(*shared), 0);
	if (err)
		return failed(s, "cuMemHostRegister", err);
	s->shared = shared;
	err = cuda.cuStreamSynchronize(s->stream);
	return err ? failed(s, "cuStreamSynchronize", err) : 0;
}

/* The compiler's complaints, a line of ours for each of its. */
static void tell_lines(char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		tell_blame("%s", line);
}

static int compile(struct seat *s, const char *text, CUmodule *module)
{
	char complaints[JIT_LOG_LEN] = "";
	int options[] = { CU_JIT_ERROR_LOG_BUFFER,
			  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { complaints, (void *)(uintptr_t)sizeof(complaints) };
	CUresult err;
	int ret;

	err = cuda.cuModuleLoadDataEx(module, text, ARRAY_SIZE(options),
				      options, values);
	if (!err)
		return 0;
	*module = NULL;
	complaints[sizeof(complaints) - 1] = '\0';
	tell_lines(complaints);
	ret = failed(s, "cuModuleLoadDataEx", err);
	return ret == -EIO && !gpu.is_lost ? -EINVAL : ret;
}

/* What was made of it; its context serves the others, and stays. */
static void clear(struct seat *s)
{
	if (s->ctx)
		cuda.cuCtxSetCurrent(s->ctx);
	/* what was queued may not run into memory that is gone */
	if (s->stream) {
		cuda.cuStreamSynchronize(s->stream);
		cuda.cuStreamDestroy_v2(s->stream);
	}
	ranges_end(&s->ranges);
	if (s->user)
		cuda.cuModuleUnload(s->user);
	if (s->builtin)
		cuda.cuModuleUnload(s->builtin);
	if (s->shared)
		cuda.cuMemHostUnregister(s->shared);
	for (int i = 0; i < 2; i++)
		if (s->buffer[i])
			cuda.cuMemFree_v2(s->buffer[i]);
	if (s->mark)
		cuda.cuMemFree_v2(s->mark);
	memset(s, 0, sizeof(*s));
}

int gpu_online(unsigned int seat, const char *bdf, struct wire_shared *shared,
	       char *name, int *device)
{
	struct seat *s = &gpu.seats[seat];
	CUdevice dev;
	int ret;

	clear(s);
	ret = find_device(seat, bdf, &dev, device);
	if (!ret)
		ret = make_ctx(s, dev, *device);
	if (!ret)
		ret = make_buffers(s, shared);
	if (!ret)
		tell_step("cuModuleLoadDataEx");
	if (!ret)
		ret = compile(s, kernels_ptx, &s->builtin);
	if (ret) {
		clear(s);
		return ret;
	}
	if (cuda.cuDeviceGetName(name, WIRE_TEXT_LEN, dev))
		strcpy(name, "?");
	s->is_online = true;
	return 0;
}

int gpu_load(unsigned int seat, const char *text, size_t len)
{
	struct seat *s = &gpu.seats[seat];
	char *terminated;
	CUmodule fresh;
	int ret = use(s);

	if (ret)
		return ret;
	terminated = strndup(text, len);
	if (!terminated)
		return -ENOMEM;
	ret = compile(s, terminated, &fresh);
	free(terminated);
	if (ret)
		return ret;
	if (s->user)
		cuda.cuModuleUnload(s->user);
	s->user = fresh;
	return 0;
}

int gpu_fill(unsigned int seat)
{
	struct seat *s = &gpu.seats[seat];
	CUresult err;
	int ret = use(s);

	if (ret)
		return ret;
	err = cuda.cuMemcpyHtoDAsync_v2(s->buffer[OWNER_IN], s->shared->stage,
					OWNER_BYTES, s->stream);
	return err ? failed(s, "cuMemcpyHtoDAsync", err) : 0;
}

/* Behind everything queued so far the GPU writes a new mark. */
static CUresult queue_mark(struct seat *s, unsigned char mark)
{
	CUresult err = cuda.cuMemsetD8Async(s->mark, mark, 1, s->stream);

	if (err)
		return err;
	return cuda.cuMemcpyDtoHAsync_v2(&s->shared->done, s->mark, 1, s->stream);
}

/* ---- memory of files ------------------------------------------------------- */

static int check_uuid(const struct seat *s, const uint8_t uuid[WIRE_UUID_LEN])
{
	struct cuda_uuid own;
	CUresult err;

	if (!cuda_has_vmm()) {
		tell_blame("the driver cannot map the memory of files");
		return -EOPNOTSUPP;
	}
	err = cuda.cuDeviceGetUuid_v2(&own, s->dev);
	if (err)
		return failed(s, "cuDeviceGetUuid", err);
	if (!memcmp(own.bytes, uuid, WIRE_UUID_LEN))
		return 0;
	tell_blame("the file is on another device than the kernels");
	return -EXDEV;
}

int gpu_map(unsigned int seat, const struct wire_map *map, const int *fds)
{
	struct seat *s = &gpu.seats[seat];
	const char *call;
	CUresult err;
	int ret = use(s);

	if (!ret)
		ret = check_uuid(s, map->uuid);
	if (ret)
		return ret;
	err = ranges_more(&s->ranges, s->dev, map, fds, &call);
	return err ? failed(s, call, err) : 0;
}

int gpu_unmap(unsigned int seat)
{
	struct seat *s = &gpu.seats[seat];
	int ret = use(s);

	if (!ret)
		ranges_end(&s->ranges);
	return ret;
}

/* ---- kernels --------------------------------------------------------------- */

/* What the kernel gets for an argument; false: there is no such memory. */
static bool value_of(const struct seat *s, const struct owner_arg *a,
		     uint64_t *value)
{
	const struct range *r;

	if (a->is_buffer) {
		*value = s->buffer[a->buffer];
		return true;
	}
	*value = a->bits;
	if (!a->memory)
		return true;
	r = ranges_find(s->ranges, a->memory);
	if (!r)
		return false;
	*value += r->mem.ptr;
	return true;
}

int gpu_launch(unsigned int seat, const struct wire_request *req, int *is_queued)
{
	struct seat *s = &gpu.seats[seat];
	const struct owner_launch *l = &req->launch;
	uint64_t values[PTX_MAX_PARAMS];
	void *args[PTX_MAX_PARAMS];
	CUfunction fn;
	CUresult err;
	int ret = use(s);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < l->n_args; i++) {
		if (!value_of(s, &l->args[i], &values[i]))
			return -EINVAL;
		args[i] = &values[i];
	}
	err = cuda.cuModuleGetFunction(&fn, req->is_user ? s->user : s->builtin,
				       l->kernel);
	if (err)
		return failed(s, "cuModuleGetFunction", err);
	tell_step("cuLaunchKernel %s", l->kernel);
	err = cuda.cuLaunchKernel(fn, l->grid[0], l->grid[1], l->grid[2],
				  l->block[0], l->block[1], l->block[2],
				  l->shared_bytes, s->stream, args, NULL);
	if (err)
		return failed(s, "cuLaunchKernel", err);
	*is_queued = 1;
	err = queue_mark(s, (unsigned char)req->mark);
	return err ? failed(s, "mark behind a kernel", err) : 0;
}

int gpu_copy(unsigned int seat, const struct wire_request *req, uint64_t *sync_ns)
{
	struct seat *s = &gpu.seats[seat];
	CUdeviceptr at = s->buffer[req->buffer] + req->off;
	void *stage = s->shared->stage;
	uint64_t start;
	CUresult err;
	int ret = use(s);

	if (ret)
		return ret;
	start = now_ns();
	err = cuda.cuStreamSynchronize(s->stream);
	*sync_ns = now_ns() - start;
	if (!err && req->is_write)
		err = cuda.cuMemcpyHtoDAsync_v2(at, stage, req->len, s->stream);
	else if (!err)
		err = cuda.cuMemcpyDtoHAsync_v2(stage, at, req->len, s->stream);
	if (!err)
		err = cuda.cuStreamSynchronize(s->stream);
	return err ? failed(s, req->is_write ? "copy in" : "copy out", err) : 0;
}

int gpu_poll(unsigned int seat)
{
	struct seat *s = &gpu.seats[seat];
	CUresult err;
	int ret = use(s);

	if (ret)
		return ret;
	err = cuda.cuStreamQuery(s->stream);
	if (err == CUDA_ERROR_NOT_READY)
		return -EAGAIN;
	return err ? failed(s, "cuStreamQuery", err) : 0;
}
