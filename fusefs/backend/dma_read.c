/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads, and reading ahead of those that go on where the last one ended.
 */
#include "backend/dma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* this many reads in sequence, and the next ones are read ahead */
#define STREAK 2

struct dma_reader *dma_reader_new(struct dma *d)
{
	struct dma_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->refs = 1;
	r->to = d->len;
	pthread_mutex_lock(&d->lock);
	r->next = d->readers;
	d->readers = r;
	pthread_mutex_unlock(&d->lock);
	return r;
}

void dma_reader_limit(struct dma *d, struct dma_reader *r, uint64_t from,
		      uint64_t to)
{
	pthread_mutex_lock(&d->lock);
	r->from = from;
	r->to = to;
	pthread_mutex_unlock(&d->lock);
}

void dma_span_begin_locked(struct dma *d, struct dma_span *s, uint64_t off,
			   uint64_t end)
{
	s->off = off;
	s->end = end;
	s->next = d->reads;
	d->reads = s;
}

void dma_span_end_locked(struct dma *d, struct dma_span *s)
{
	struct dma_span **p = &d->reads;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	pthread_cond_broadcast(&d->moved);
}

/* A window that nobody uses; the copy engine may not be done with it. */
void dma_window_end_locked(struct dma *d, struct dma_buf **slot)
{
	struct dma_buf *w = *slot;
	CUresult err = CUDA_SUCCESS;
	struct dma_span span;

	*slot = NULL;
	d->n_windows--;
	if (w->state == DMA_FLYING) {
		dma_span_begin_locked(d, &span, w->off, w->end);
		pthread_mutex_unlock(&d->lock);
		err = dma_wait(d, w);
		pthread_mutex_lock(&d->lock);
		dma_span_end_locked(d, &span);
	}
	if (err)
		dma_fail_locked(d, "reading ahead", err);
	dma_put_locked(d, w);
}

/* Windows behind the reader, or not to be used; of an ended one, all. */
static void clean_locked(struct dma *d, struct dma_reader *r)
{
	for (unsigned int i = 0; i < DMA_WINDOWS; i++) {
		struct dma_buf *w = r->windows[i];

		if (w && !w->users && w->state != DMA_BUSY &&
		    (w->stale || r->is_ended || w->end <= r->next_off))
			dma_window_end_locked(d, &r->windows[i]);
	}
}

static void reader_unref_locked(struct dma *d, struct dma_reader *r)
{
	struct dma_reader **p = &d->readers;

	if (--r->refs)
		return;
	while (*p != r)
		p = &(*p)->next;
	*p = r->next;
	free(r);
}

void dma_reader_end(struct dma *d, struct dma_reader *r)
{
	pthread_mutex_lock(&d->lock);
	r->is_ended = true;
	clean_locked(d, r);
	reader_unref_locked(d, r);
	pthread_mutex_unlock(&d->lock);
}

static struct dma_buf *window_locked(struct dma_reader *r, uint64_t off,
				     uint64_t end)
{
	for (unsigned int i = 0; i < DMA_WINDOWS; i++) {
		struct dma_buf *w = r->windows[i];

		if (w && !w->stale && w->off <= off && end <= w->end)
			return w;
	}
	return NULL;
}

/* From a window, if there is one: true, and then it is lent. */
static bool lend_window_locked(struct dma *d, struct dma_reader *r,
			       uint64_t off, size_t len, struct dma_loan *loan)
{
	struct dma_buf *w = window_locked(r, off, off + len);
	CUresult err = CUDA_SUCCESS;

	if (!w)
		return false;
	w->users++;
	while (w->state == DMA_BUSY)
		pthread_cond_wait(&d->moved, &d->lock);
	if (w->state == DMA_FLYING) {
		pthread_mutex_unlock(&d->lock);
		err = dma_wait(d, w);
		pthread_mutex_lock(&d->lock);
		if (!err)
			w->state = DMA_READY;
		pthread_cond_broadcast(&d->moved);
	}
	if (err || w->state != DMA_READY) {
		if (err)
			dma_fail_locked(d, "reading ahead", err);
		w->stale = true;
		w->users--;
		return false;
	}
	loan->buf = w;
	loan->data = w->data + (off - w->off);
	return true;
}

static int lend_plain_locked(struct dma *d, uint64_t off, size_t len,
			     struct dma_loan *loan)
{
	struct dma_buf *b, *in_way;
	struct dma_span span;
	CUresult err;
	int ret;

	ret = dma_take_locked(d, true, &b);
	if (ret)
		return ret;
	while ((in_way = dma_overlap_locked(d, off, off + len, NULL)))
		dma_advance_locked(d, in_way);
	if (d->is_dead) {
		dma_put_locked(d, b);
		return -EIO;
	}
	dma_span_begin_locked(d, &span, off, off + len);
	pthread_mutex_unlock(&d->lock);
	b->data = b->mem;
	err = dma_enter(d);
	if (!err)
		err = cuda.cuMemcpyDtoHAsync_v2(b->data, d->mem + off, len,
						b->stream);
	if (!err)
		err = dma_wait(d, b);
	pthread_mutex_lock(&d->lock);
	dma_span_end_locked(d, &span);
	if (err) {
		ret = dma_fail_locked(d, "reading", err);
		dma_put_locked(d, b);
		return ret;
	}
	loan->buf = b;
	loan->data = b->data;
	return 0;
}

/* Sequential or not; a reader that jumped has no use for its windows. */
static void note_locked(struct dma_reader *r, uint64_t off, size_t len, bool hit)
{
	r->streak = off == r->next_off ? r->streak + 1 : 0;
	r->next_off = off + len;
	r->len = len;
	if (hit)
		return;
	for (unsigned int i = 0; i < DMA_WINDOWS; i++)
		if (r->windows[i])
			r->windows[i]->stale = true;
	r->ahead = r->next_off;
}

int dma_lend(struct dma *d, struct dma_reader *r, uint64_t off, size_t len,
	     struct dma_loan *loan)
{
	bool hit = false;
	int ret = 0;

	if (d->is_dead)
		return -EIO;
	pthread_mutex_lock(&d->lock);
	if (r) {
		hit = lend_window_locked(d, r, off, len, loan);
		note_locked(r, off, len, hit);
	}
	if (!hit)
		ret = lend_plain_locked(d, off, len, loan);
	loan->reader = ret ? NULL : r;
	if (loan->reader)
		r->refs++;
	pthread_mutex_unlock(&d->lock);
	return ret;
}

/* The next window, on its way; false: none now. */
static bool read_ahead_locked(struct dma *d, struct dma_reader *r)
{
	size_t len = r->len * (r->len < DMA_MAX_LEN ? DMA_MAX_LEN / r->len : 1);
	uint64_t off = r->ahead, end = off + len;
	struct dma_buf *w, **slot = NULL;
	CUresult err;

	for (unsigned int i = 0; i < DMA_WINDOWS; i++)
		if (!r->windows[i])
			slot = &r->windows[i];
	if (off < r->from || off >= r->to)
		return false;
	end = MIN(end, r->to);
	if (!slot || d->n_windows >= DMA_MAX_WINDOWS ||
	    dma_overlap_locked(d, off, end, NULL))
		return false;
	/* may let others in: they find no window yet, may have moved on, or
	 * taken the range away */
	d->n_windows++;
	if (dma_take_locked(d, false, &w)) {
		d->n_windows--;
		return false;
	}
	if (*slot || r->ahead != off || off < r->from || end > r->to ||
	    dma_overlap_locked(d, off, end, NULL)) {
		d->n_windows--;
		dma_put_locked(d, w);
		return false;
	}
	w->off = off;
	w->end = end;
	w->data = w->mem;
	w->state = DMA_BUSY;
	w->users = 0;
	w->stale = false;
	*slot = w;
	r->ahead = end;
	pthread_mutex_unlock(&d->lock);
	err = dma_enter(d);
	if (!err)
		err = cuda.cuMemcpyDtoHAsync_v2(w->data, d->mem + off,
						end - off, w->stream);
	pthread_mutex_lock(&d->lock);
	if (err) {
		dma_fail_locked(d, "reading ahead", err);
		w->stale = true;
	}
	w->state = err ? DMA_READY : DMA_FLYING;
	pthread_cond_broadcast(&d->moved);
	return !err;
}

void dma_return(struct dma *d, struct dma_loan *loan)
{
	struct dma_reader *r = loan->reader;
	bool is_window = false;

	pthread_mutex_lock(&d->lock);
	for (unsigned int i = 0; r && i < DMA_WINDOWS; i++)
		is_window = is_window || r->windows[i] == loan->buf;
	if (is_window)
		loan->buf->users--;
	else
		dma_put_locked(d, loan->buf);
	if (r) {
		clean_locked(d, r);
		while (!r->is_ended && r->streak >= STREAK && !d->is_dead &&
		       read_ahead_locked(d, r))
			clean_locked(d, r);
		clean_locked(d, r);
		reader_unref_locked(d, r);
	}
	pthread_mutex_unlock(&d->lock);
}
