/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies and fills, now and in streams. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"

#define PAGE 4096u

/* A copy, or a fill when there is no @src. */
struct copy {
	struct standin_work work;
	char *dst;
	const char *src;
	size_t len;
	unsigned char byte;
	bool to_host;
	bool from_host;
};

/*
 * Copies that nobody ordered may meet in device memory, as on a device: no
 * business of a sanitizer, which is to watch over host memory. Words where both
 * sides allow it.
 */
__attribute__((no_sanitize("thread"))) static void
copy_device(volatile char *dst, const volatile char *src, size_t len)
{
	size_t i = 0;

	if (!((uintptr_t)dst % 8) && !((uintptr_t)src % 8))
		for (; i + 8 <= len; i += 8)
			*(volatile uint64_t *)(dst + i) =
				*(const volatile uint64_t *)(src + i);
	for (; i < len; i++)
		dst[i] = src[i];
}

/* The host's side by an ordinary memcpy, the device's by the above. */
static void copy_bytes(const struct copy *c)
{
	char bounce[PAGE] __attribute__((aligned(8)));

	for (size_t at = 0; at < c->len; at += sizeof(bounce)) {
		size_t n = MIN(c->len - at, sizeof(bounce));

		if (c->from_host)
			memcpy(bounce, c->src + at, n);
		else
			copy_device(bounce, c->src + at, n);
		if (c->to_host)
			memcpy(c->dst + at, bounce, n);
		else
			copy_device(c->dst + at, bounce, n);
	}
}

/* Whole pages of zeroes cost nothing: devices may be larger than our RAM. */
static void fill(char *dst, unsigned char byte, size_t len)
{
	char *start =
		(char *)(((uintptr_t)dst + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	char *end = (char *)((uintptr_t)(dst + len) & ~(uintptr_t)(PAGE - 1));

	if (byte || end <= start ||
	    madvise(start, (size_t)(end - start), MADV_DONTNEED)) {
		memset(dst, byte, len);
		return;
	}
	memset(dst, 0, (size_t)(start - dst));
	memset(end, 0, (size_t)(dst + len - end));
}

static CUresult copy_run(struct standin_work *work)
{
	struct copy *c = (struct copy *)work;

	if (c->src)
		copy_bytes(c);
	else
		fill(c->dst, c->byte, c->len);
	return CUDA_SUCCESS;
}

static void copy_free(struct standin_work *work)
{
	free(work);
}

/* Which sides of a copy are the host's; FILL: there is no other side. */
enum sides { FROM_HOST, TO_HOST, NO_HOST, FILL };

static CUresult copy_post(CUcontext ctx, CUstream stream, void *dst,
			  const void *src, enum sides sides, int byte, size_t len)
{
	struct copy *c;
	CUresult err;

	if (!dst || (!src && sides != FILL))
		return CUDA_ERROR_INVALID_VALUE;
	c = calloc(1, sizeof(*c));
	c->from_host = sides == FROM_HOST;
	c->to_host = sides == TO_HOST;
	c->work.run = copy_run;
	c->work.free = copy_free;
	c->dst = dst;
	c->src = src;
	c->byte = (unsigned char)byte;
	c->len = len;
	err = standin_post(ctx, stream, &c->work);
	if (err)
		free(c);
	return err;
}

/* The null stream's, after what was given to the others, and waited for. */
static CUresult copy_now(CUcontext ctx, void *dst, const void *src,
			 enum sides sides, int byte, size_t len)
{
	CUresult err = standin_wait_all(ctx, false);

	if (!err)
		err = copy_post(ctx, NULL, dst, src, sides, byte, len);
	return err ? err : standin_wait(ctx, NULL);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t len)
{
	ENTER_TOUCH(cuMemcpyHtoD_v2, ctx);
	return copy_now(ctx, standin_mem(ctx->device, dst, len), src, FROM_HOST,
			0, len);
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t len)
{
	ENTER_TOUCH(cuMemcpyDtoH_v2, ctx);
	return copy_now(ctx, dst, standin_mem(ctx->device, src, len), TO_HOST,
			0, len);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyHtoDAsync_v2, ctx);
	return copy_post(ctx, stream, standin_mem(ctx->device, dst, len), src,
			 FROM_HOST, 0, len);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyDtoHAsync_v2, ctx);
	return copy_post(ctx, stream, dst, standin_mem(ctx->device, src, len),
			 TO_HOST, 0, len);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyDtoDAsync_v2, ctx);
	return copy_post(ctx, stream, standin_mem(ctx->device, dst, len),
			 standin_mem(ctx->device, src, len), NO_HOST, 0, len);
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char byte, size_t len)
{
	ENTER_TOUCH(cuMemsetD8_v2, ctx);
	return copy_now(ctx, standin_mem(ctx->device, dst, len), NULL, FILL,
			byte, len);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char byte, size_t len,
			 CUstream stream)
{
	ENTER_TOUCH(cuMemsetD8Async, ctx);
	return copy_post(ctx, stream, standin_mem(ctx->device, dst, len), NULL,
			 FILL, byte, len);
}
