/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies and fills, now and in streams. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"

#define PAGE 4096u

/**
 * struct side - one end of a copy
 * @device: whose memory; HOST: @at is an address
 */
struct side {
	int device;
	uint64_t at;
};

#define HOST    (-1)
#define NO_SIDE ((struct side){ HOST, 0 }) /* a fill has no source */

/* A copy, or a fill when there is no source. */
struct copy {
	struct standin_work work;
	struct side to, from;
	size_t len;
	unsigned char byte;
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
static void copy_bytes(const struct copy *c, char *dst, const char *src)
{
	char bounce[PAGE] __attribute__((aligned(8)));

	for (size_t at = 0; at < c->len; at += sizeof(bounce)) {
		size_t n = MIN(c->len - at, sizeof(bounce));

		if (c->from.device == HOST)
			memcpy(bounce, src + at, n);
		else
			copy_device(bounce, src + at, n);
		if (c->to.device == HOST)
			memcpy(dst + at, bounce, n);
		else
			copy_device(dst + at, bounce, n);
	}
}

/* Whole pages of zeroes cost nothing: devices may be larger than our RAM. */
static void fill(char *dst, unsigned char byte, size_t len, int advice)
{
	char *start =
		(char *)(((uintptr_t)dst + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	char *end = (char *)((uintptr_t)(dst + len) & ~(uintptr_t)(PAGE - 1));

	if (byte || end <= start ||
	    madvise(start, (size_t)(end - start), advice)) {
		memset(dst, byte, len);
		return;
	}
	memset(dst, 0, (size_t)(start - dst));
	memset(end, 0, (size_t)(dst + len - end));
}

static const void *source(struct side s, size_t len)
{
	return s.device == HOST ? (const void *)(uintptr_t)s.at
				: standin_mem(s.device, s.at, len);
}

static void *target(struct side s, size_t len)
{
	return s.device == HOST ? (void *)(uintptr_t)s.at
				: standin_mem_to(s.device, s.at, len);
}

/* Memory that was taken away since the work was given is a bad address. */
static CUresult copy_run(struct standin_work *work)
{
	struct copy *c = (struct copy *)work;
	const void *src;
	void *dst;

	standin_copy_begin();
	dst = target(c->to, c->len);
	src = source(c->from, c->len);
	if (dst && src)
		copy_bytes(c, dst, src);
	else if (dst && !c->from.at)
		fill(dst, c->byte, c->len,
		     standin_is_mapped(c->to.at) ? MADV_REMOVE : MADV_DONTNEED);
	standin_copy_end();
	return dst && (src || !c->from.at) ? CUDA_SUCCESS
					   : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void copy_free(struct standin_work *work)
{
	free(work);
}

static CUresult copy_post(CUcontext ctx, CUstream stream, struct side to,
			  struct side from, int byte, size_t len)
{
	struct copy *c;
	CUresult err;

	if (!target(to, len) || (from.at && !source(from, len)))
		return CUDA_ERROR_INVALID_VALUE;
	c = calloc(1, sizeof(*c));
	c->work.run = copy_run;
	c->work.free = copy_free;
	c->to = to;
	c->from = from;
	c->byte = (unsigned char)byte;
	c->len = len;
	err = standin_post(ctx, stream, &c->work);
	if (err)
		free(c);
	return err;
}

/* The null stream's, after what was given to the others, and waited for. */
static CUresult copy_now(CUcontext ctx, struct side to, struct side from,
			 int byte, size_t len)
{
	CUresult err = standin_wait_all(ctx, false);

	if (!err)
		err = copy_post(ctx, NULL, to, from, byte, len);
	return err ? err : standin_wait(ctx, NULL);
}

static struct side of_host(const void *p)
{
	return (struct side){ HOST, (uintptr_t)p };
}

static struct side of(CUcontext ctx, CUdeviceptr p)
{
	return (struct side){ ctx->device, p };
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t len)
{
	ENTER_TOUCH(cuMemcpyHtoD_v2, ctx);
	return src ? copy_now(ctx, of(ctx, dst), of_host(src), 0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t len)
{
	ENTER_TOUCH(cuMemcpyDtoH_v2, ctx);
	return src ? copy_now(ctx, of_host(dst), of(ctx, src), 0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyHtoDAsync_v2, ctx);
	return src ? copy_post(ctx, stream, of(ctx, dst), of_host(src), 0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyDtoHAsync_v2, ctx);
	return src ? copy_post(ctx, stream, of_host(dst), of(ctx, src), 0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t len,
			      CUstream stream)
{
	ENTER_TOUCH(cuMemcpyDtoDAsync_v2, ctx);
	return src ? copy_post(ctx, stream, of(ctx, dst), of(ctx, src), 0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,
			   CUcontext src_ctx, size_t len, CUstream stream)
{
	ENTER_TOUCH(cuMemcpyPeerAsync, ctx);
	return src ? copy_post(ctx, stream, of(dst_ctx, dst), of(src_ctx, src),
			       0, len)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char byte, size_t len)
{
	ENTER_TOUCH(cuMemsetD8_v2, ctx);
	return copy_now(ctx, of(ctx, dst), NO_SIDE, byte, len);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char byte, size_t len,
			 CUstream stream)
{
	ENTER_TOUCH(cuMemsetD8Async, ctx);
	return copy_post(ctx, stream, of(ctx, dst), NO_SIDE, byte, len);
}
