/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices, contexts and memory. */
#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"

#define DRIVER_VERSION 13000 /* CUDA 13.0, in the form of cuda.h */

/* of a K80's die, as its driver reports it with ECC on */
#define K80_BYTES ((size_t)11441 * MIB)

/* @fd: that it is taken; 0: of no device */
struct alloc {
	struct alloc *next;
	int device;
	char *mem;
	size_t len;
	int fd;
};

static struct {
	pthread_mutex_t lock; /* guards all below */
	struct alloc *device_mem;
	struct alloc *host_mem;
	struct alloc *registered; /* the caller's memory */
	struct CUctx_st *contexts;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local CUcontext current;

size_t standin_size(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	size_t v = strtoull(text, &end, 10);
	const char *unit =
		*end ? strchr(units, toupper((unsigned char)*end)) : NULL;

	if (!*end)
		return v;
	return unit && !end[1] ? v << (10 * (size_t)(unit - units + 1)) : 0;
}

size_t standin_vram(void)
{
	const char *size = getenv("STANDIN_VRAM");

	if (size)
		return standin_size(size);
	return standin_is_on_nodes() ? K80_BYTES : 256 * MIB;
}

CUcontext standin_current(void)
{
	return current;
}

CUresult cuInit(unsigned int flags)
{
	ENTER(cuInit);
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return standin_open();
}

CUresult cuDriverGetVersion(int *version)
{
	ENTER(cuDriverGetVersion);
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER(cuDeviceGetCount);
	*count = standin_count();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	ENTER(cuDeviceGet);
	if (ordinal < 0 || ordinal >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	ENTER(cuDeviceGetName);
	snprintf(name, (size_t)len, "Stand-in GPU %d", dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *bdf, int len, CUdevice dev)
{
	ENTER(cuDeviceGetPCIBusId);
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(bdf, (size_t)len, "%s", standin_bdf(dev));
	for (char *c = bdf; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	ENTER(cuDeviceTotalMem_v2);
	(void)dev;
	*bytes = standin_vram();
	return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev)
{
	CUresult err;

	ENTER(cuCtxCreate_v2);
	(void)flags;
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	err = standin_attach(dev);
	if (err)
		return err;
	*ctx = calloc(1, sizeof(**ctx));
	(*ctx)->device = dev;
	err = standin_ctx_start(*ctx);
	if (err) {
		free(*ctx);
		return err;
	}
	pthread_mutex_lock(&all.lock);
	(*ctx)->next = all.contexts;
	all.contexts = *ctx;
	pthread_mutex_unlock(&all.lock);
	current = *ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	struct CUctx_st **p;
	CUresult err;

	ENTER(cuCtxDestroy_v2);
	err = standin_touch(ctx->device);
	if (err)
		return err;
	pthread_mutex_lock(&all.lock);
	for (p = &all.contexts; *p && *p != ctx; p = &(*p)->next)
		;
	if (*p)
		*p = ctx->next;
	pthread_mutex_unlock(&all.lock);
	standin_ctx_end(ctx);
	if (current == ctx)
		current = NULL;
	free(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	ENTER(cuCtxSetCurrent);
	current = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	ENTER_TOUCH(cuCtxSynchronize, ctx);
	return standin_wait_all(ctx, true);
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	ENTER_TOUCH(cuMemGetInfo_v2, ctx);
	*total = standin_vram();
	*available = *total - MIN(*total, standin_used(ctx->device));
	return CUDA_SUCCESS;
}

static struct alloc *alloc_new(int device, size_t len)
{
	struct alloc *a = calloc(1, sizeof(*a));

	a->device = device;
	a->len = len;
	a->mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->mem != MAP_FAILED)
		return a;
	free(a);
	return NULL;
}

/* Takes the allocation that starts at @mem out of a list; NULL if none does. */
static struct alloc *alloc_take_locked(struct alloc **list, const char *mem)
{
	for (struct alloc **p = list; *p; p = &(*p)->next) {
		struct alloc *a = *p;

		if (a->mem != mem)
			continue;
		*p = a->next;
		return a;
	}
	return NULL;
}

static void alloc_free(struct alloc *a)
{
	munmap(a->mem, a->len);
	free(a);
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t len)
{
	struct alloc *a;
	int fd;

	ENTER_TOUCH(cuMemAlloc_v2, ctx);
	if (!len)
		return CUDA_ERROR_INVALID_VALUE;
	fd = standin_take(ctx->device, len);
	if (fd < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a = alloc_new(ctx->device, len);
	if (!a) {
		standin_give(ctx->device, len, fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->fd = fd;
	standin_dirty(a->mem, len);
	*ptr = (uintptr_t)a->mem | STANDIN_TAG;
	pthread_mutex_lock(&all.lock);
	a->next = all.device_mem;
	all.device_mem = a;
	pthread_mutex_unlock(&all.lock);
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	struct alloc *a;

	ENTER_TOUCH(cuMemFree_v2, ctx);
	(void)ctx;
	pthread_mutex_lock(&all.lock);
	a = alloc_take_locked(&all.device_mem, (char *)(ptr & ~STANDIN_TAG));
	pthread_mutex_unlock(&all.lock);
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	standin_give(a->device, a->len, a->fd);
	alloc_free(a);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **ptr, size_t len)
{
	struct alloc *a;

	ENTER_TOUCH(cuMemAllocHost_v2, ctx);
	a = alloc_new(ctx->device, len);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&all.lock);
	a->next = all.host_mem;
	all.host_mem = a;
	pthread_mutex_unlock(&all.lock);
	*ptr = a->mem;
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *ptr)
{
	struct alloc *a;

	ENTER(cuMemFreeHost);
	pthread_mutex_lock(&all.lock);
	a = alloc_take_locked(&all.host_mem, ptr);
	pthread_mutex_unlock(&all.lock);
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	alloc_free(a);
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t len, unsigned int flags)
{
	struct alloc *a;

	ENTER_TOUCH(cuMemHostRegister_v2, ctx);
	if (!ptr || !len || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&all.lock);
	for (a = all.registered; a; a = a->next)
		if ((char *)ptr < a->mem + a->len && a->mem < (char *)ptr + len)
			break;
	if (!a) {
		a = calloc(1, sizeof(*a));
		*a = (struct alloc){ .next = all.registered,
				     .device = ctx->device,
				     .mem = ptr,
				     .len = len };
		all.registered = a;
		a = NULL;
	}
	pthread_mutex_unlock(&all.lock);
	return a ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *ptr)
{
	struct alloc *a;

	ENTER(cuMemHostUnregister);
	pthread_mutex_lock(&all.lock);
	a = alloc_take_locked(&all.registered, ptr);
	pthread_mutex_unlock(&all.lock);
	if (!a)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	free(a);
	return CUDA_SUCCESS;
}

static void *find(int device, CUdeviceptr ptr, size_t len, int access)
{
	char *mem = (char *)(ptr & ~STANDIN_TAG);
	bool found = false;

	if (standin_is_mapped(ptr))
		return standin_mapped(device, ptr, len, access);
	pthread_mutex_lock(&all.lock);
	for (struct alloc *a = all.device_mem; a && !found; a = a->next)
		found = (ptr & STANDIN_TAG) && a->device == device &&
			mem >= a->mem && mem <= a->mem + a->len &&
			len <= (size_t)(a->mem + a->len - mem);
	pthread_mutex_unlock(&all.lock);
	return found ? mem : NULL;
}

void *standin_mem(int device, CUdeviceptr ptr, size_t len)
{
	return find(device, ptr, len, CU_MEM_ACCESS_READ);
}

void *standin_mem_to(int device, CUdeviceptr ptr, size_t len)
{
	return find(device, ptr, len, CU_MEM_ACCESS_READWRITE);
}
