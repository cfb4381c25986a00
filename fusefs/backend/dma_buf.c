/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffers, the waiting for them, and what their ranges touch. */
#include "backend/dma.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"

/* A copy of 1 MiB takes 25 us; sleeping and waking up takes longer. */
#define SPIN_NS     (200 * NSEC_PER_USEC)
#define SLEEP_NS    (100 * NSEC_PER_USEC)
#define PATIENCE_NS (30 * NSEC_PER_SEC)

/* No CUresult: a stream that never ends, PATIENCE_NS after it was asked. */
#define HUNG (-1)

CUresult dma_enter(struct dma *d)
{
	return cuda.cuCtxSetCurrent(d->ctx);
}

/* Errors of one call; after any other the context is lost, as CUDA has it. */
static bool is_passing(CUresult err)
{
	return err == CUDA_ERROR_OUT_OF_MEMORY;
}

int dma_fail_locked(struct dma *d, const char *what, CUresult err)
{
	const char *name = err == HUNG ? "no answer for 30 s" : cuda_name(err);
	time_t now = time(NULL);
	char when[32];
	struct tm tm;

	strftime(when, sizeof(when), "%F %T", localtime_r(&now, &tm));
	if (!is_passing(err))
		d->is_dead = true;
	pthread_cond_broadcast(&d->moved);
	snprintf(d->error, sizeof(d->error), "%s die %u: %s: %s", when, d->die,
		 what, name);
	return is_passing(err) ? -ENOMEM : -EIO;
}

void dma_error(struct dma *d, char *buf, size_t len)
{
	pthread_mutex_lock(&d->lock);
	snprintf(buf, len, "%s", d->error);
	pthread_mutex_unlock(&d->lock);
}

CUresult dma_wait(struct dma *d, struct dma_buf *b)
{
	const struct timespec nap = { .tv_nsec = SLEEP_NS };
	uint64_t start = now_ns();
	CUresult err = dma_enter(d);

	while (!err) {
		uint64_t spent;

		err = cuda.cuStreamQuery(b->stream);
		if (err != CUDA_ERROR_NOT_READY)
			return err;
		err = CUDA_SUCCESS;
		spent = now_ns() - start;
		if (spent > PATIENCE_NS || d->is_dead)
			return HUNG;
		if (spent > SPIN_NS)
			nanosleep(&nap, NULL);
	}
	return err;
}

static CUresult alloc_pinned(struct dma *d, char **mem)
{
	CUresult err = dma_enter(d);
	void *p = NULL;

	if (!err)
		err = cuda.cuMemAllocHost_v2(&p, DMA_BUF_LEN);
	*mem = p;
	return err;
}

char *dma_alloc(struct dma *d)
{
	CUresult err;
	char *mem;

	err = alloc_pinned(d, &mem);
	if (!err)
		return mem;
	pthread_mutex_lock(&d->lock);
	dma_fail_locked(d, "pinned memory for requests", err);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static CUresult buf_new(struct dma *d, struct dma_buf **out)
{
	struct dma_buf *b = calloc(1, sizeof(*b));
	CUresult err;

	if (!b)
		return CUDA_ERROR_OUT_OF_MEMORY;
	err = alloc_pinned(d, &b->mem);
	if (err)
		goto out_free;
	err = cuda.cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING);
	if (err)
		goto out_unpin;
	*out = b;
	return CUDA_SUCCESS;

out_unpin:
	cuda.cuMemFreeHost(b->mem);
out_free:
	free(b);
	return err;
}

int dma_grow_locked(struct dma *d, struct dma_buf **out)
{
	CUresult err;

	d->n_bufs++;
	pthread_mutex_unlock(&d->lock);
	err = buf_new(d, out);
	pthread_mutex_lock(&d->lock);
	if (!err)
		return 0;
	d->n_bufs--;
	return dma_fail_locked(d, "a pinned buffer", err);
}

void dma_put_locked(struct dma *d, struct dma_buf *b)
{
	struct dma_buf **list = d->is_dead ? &d->abandoned : &d->free;

	b->next = *list;
	*list = b;
	pthread_cond_broadcast(&d->moved);
}

struct dma_buf *dma_overlap_locked(struct dma *d, uint64_t off, uint64_t end,
				   const struct dma_buf *but)
{
	for (struct dma_buf *b = d->writes; b; b = b->next)
		if (b != but && b->off < end && off < b->end)
			return b;
	return NULL;
}

void dma_drop_windows_locked(struct dma *d, uint64_t off, uint64_t end)
{
	for (struct dma_reader *r = d->readers; r; r = r->next)
		for (unsigned int i = 0; i < DMA_WINDOWS; i++) {
			struct dma_buf *w = r->windows[i];

			if (w && w->off < end && off < w->end)
				w->stale = true;
		}
}
