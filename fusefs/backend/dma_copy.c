/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies from device memory to device memory, and the end of a range. */
#include "backend/dma.h"

#include <errno.h>

static int read_begin(struct dma *d, struct dma_span *s, uint64_t off,
		      uint64_t end)
{
	struct dma_buf *in_way;
	int ret = 0;

	pthread_mutex_lock(&d->lock);
	while ((in_way = dma_overlap_locked(d, off, end, NULL)))
		dma_advance_locked(d, in_way);
	if (d->is_dead)
		ret = -EIO;
	else
		dma_span_begin_locked(d, s, off, end);
	pthread_mutex_unlock(&d->lock);
	return ret;
}

static void read_end(struct dma *d, struct dma_span *s)
{
	pthread_mutex_lock(&d->lock);
	dma_span_end_locked(d, s);
	pthread_mutex_unlock(&d->lock);
}

/* In the stream of @b, a buffer of @dst's, whose memory is not used. */
static CUresult run(struct dma *src, uint64_t from, struct dma *dst,
		    uint64_t to, uint64_t len, struct dma_buf *b)
{
	CUresult err = dma_enter(dst);

	if (err)
		return err;
	err = src == dst
		      ? cuda.cuMemcpyDtoDAsync_v2(dst->mem + to, src->mem + from,
						  len, b->stream)
		      : cuda.cuMemcpyPeerAsync(dst->mem + to, dst->ctx,
					       src->mem + from, src->ctx, len,
					       b->stream);
	return err ? err : dma_wait(dst, b);
}

/*
 * The source comes first: while a write is on the list of @dst nothing is
 * waited for but the copy itself, so two copies crosswise end both.
 */
int dma_copy(struct dma *src, uint64_t from, struct dma *dst, uint64_t to,
	     uint64_t len)
{
	struct dma_span span;
	struct dma_buf *b;
	CUresult err;
	int ret;

	if (dst->is_dead)
		return -EIO;
	ret = read_begin(src, &span, from, from + len);
	if (ret)
		return ret;
	pthread_mutex_lock(&dst->lock);
	ret = dma_begin_locked(dst, to, to + len, false, &b);
	pthread_mutex_unlock(&dst->lock);
	if (ret)
		goto out;
	err = run(src, from, dst, to, len, b);
	pthread_mutex_lock(&dst->lock);
	if (err)
		ret = dma_fail_locked(dst, "copying", err);
	dma_write_ended_locked(dst, b);
	pthread_mutex_unlock(&dst->lock);
out:
	read_end(src, &span);
	return ret;
}

static bool is_read_locked(struct dma *d, uint64_t off, uint64_t end)
{
	for (struct dma_span *s = d->reads; s; s = s->next)
		if (s->off < end && off < s->end)
			return true;
	return false;
}

/* A window of the range that the copy engine may not be done with. */
static struct dma_buf **window_locked(struct dma *d, uint64_t off, uint64_t end)
{
	for (struct dma_reader *r = d->readers; r; r = r->next)
		for (unsigned int i = 0; i < DMA_WINDOWS; i++) {
			struct dma_buf *w = r->windows[i];

			if (w && w->state != DMA_READY && w->off < end &&
			    off < w->end)
				return &r->windows[i];
		}
	return NULL;
}

static void stop_readers_locked(struct dma *d, uint64_t off, uint64_t end)
{
	for (struct dma_reader *r = d->readers; r; r = r->next)
		if (r->from < end && off < r->to)
			r->from = r->to = 0;
}

/* One step towards a range that nothing works on; false: it is one. */
static bool step_locked(struct dma *d, uint64_t off, uint64_t end)
{
	struct dma_buf *in_way = dma_overlap_locked(d, off, end, NULL);
	struct dma_buf **window = window_locked(d, off, end);

	if (in_way)
		dma_advance_locked(d, in_way);
	else if (window && (*window)->state == DMA_FLYING && !(*window)->users)
		dma_window_end_locked(d, window);
	else if (window || is_read_locked(d, off, end))
		pthread_cond_wait(&d->moved, &d->lock);
	else
		return false;
	return true;
}

void dma_forget(struct dma *d, uint64_t off, uint64_t end)
{
	pthread_mutex_lock(&d->lock);
	stop_readers_locked(d, off, end);
	do
		dma_drop_windows_locked(d, off, end);
	while (step_locked(d, off, end));
	pthread_mutex_unlock(&d->lock);
}
