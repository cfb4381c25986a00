/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes: answered when they are gathered or on their way, done later.
 *
 * The life of one on the list: busy while its bytes are copied into the
 * buffer; gathering until it is full, or something makes it go out; flying; off
 * the list when somebody has waited for it, or found it done. To make it go out
 * takes as long as to answer, so that comes after the answer.
 */
#include "backend/dma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"

static void list_add_locked(struct dma *d, struct dma_buf *b)
{
	b->next = NULL;
	b->seq = ++d->seq;
	*d->writes_tail = b;
	d->writes_tail = &b->next;
	d->n_writes++;
}

static void list_del_locked(struct dma *d, struct dma_buf *b)
{
	struct dma_buf **p = &d->writes;

	while (*p != b)
		p = &(*p)->next;
	*p = b->next;
	if (!b->next)
		d->writes_tail = p;
	d->n_writes--;
}

void dma_write_ended_locked(struct dma *d, struct dma_buf *b)
{
	list_del_locked(d, b);
	dma_put_locked(d, b);
}

static void write_lost_locked(struct dma *d, struct dma_buf *b, CUresult err)
{
	dma_fail_locked(d, "a write that was answered", err);
	atomic_fetch_add(d->lost, 1);
	log_err("%s", d->error);
	dma_write_ended_locked(d, b);
}

static CUresult send_locked(struct dma *d, struct dma_buf *b)
{
	CUresult err;

	b->state = DMA_BUSY;
	pthread_mutex_unlock(&d->lock);
	err = dma_enter(d);
	if (!err)
		err = cuda.cuMemcpyHtoDAsync_v2(d->mem + b->off, b->data,
						b->end - b->off, b->stream);
	pthread_mutex_lock(&d->lock);
	if (!err) {
		b->state = DMA_FLYING;
		pthread_cond_broadcast(&d->moved);
	}
	return err;
}

/* What was gathered goes out: it was answered before. */
static void let_go_locked(struct dma *d, struct dma_buf *b)
{
	CUresult err = send_locked(d, b);

	if (err)
		write_lost_locked(d, b, err);
}

static void landed_locked(struct dma *d, struct dma_buf *b, CUresult err)
{
	if (err)
		write_lost_locked(d, b, err);
	else
		dma_write_ended_locked(d, b);
}

static void land_locked(struct dma *d, struct dma_buf *b)
{
	CUresult err;

	b->state = DMA_BUSY;
	pthread_mutex_unlock(&d->lock);
	err = dma_wait(d, b);
	pthread_mutex_lock(&d->lock);
	landed_locked(d, b, err);
}

/* false: it is still on its way */
static bool try_land_locked(struct dma *d, struct dma_buf *b)
{
	CUresult err;

	b->state = DMA_BUSY;
	pthread_mutex_unlock(&d->lock);
	err = dma_enter(d);
	if (!err)
		err = cuda.cuStreamQuery(b->stream);
	pthread_mutex_lock(&d->lock);
	if (err == CUDA_ERROR_NOT_READY) {
		b->state = DMA_FLYING;
		pthread_cond_broadcast(&d->moved);
		return false;
	}
	landed_locked(d, b, err);
	return true;
}

static struct dma_buf *flying_locked(struct dma *d)
{
	for (struct dma_buf *b = d->writes; b; b = b->next)
		if (b->state == DMA_FLYING)
			return b;
	return NULL;
}

/*
 * A buffer that was just used is still in the CPU's cache, and the next request
 * is copied there in two thirds of the time: so a writer that waits for each
 * answer is to go round in as few of them as it can.
 */
static void land_done_locked(struct dma *d)
{
	struct dma_buf *b;

	do
		b = flying_locked(d);
	while (b && try_land_locked(d, b));
}

/* One step towards its end, by us or by whoever works on it. */
void dma_advance_locked(struct dma *d, struct dma_buf *b)
{
	if (b->state == DMA_GATHERING)
		let_go_locked(d, b);
	else if (b->state == DMA_FLYING)
		land_locked(d, b);
	else
		pthread_cond_wait(&d->moved, &d->lock);
}

/* The oldest write that can be moved on, or any if others work on all. */
static struct dma_buf *oldest_locked(struct dma *d)
{
	for (struct dma_buf *b = d->writes; b; b = b->next)
		if (b->state != DMA_BUSY)
			return b;
	return d->writes;
}

/* Without @may_wait: -EAGAIN instead of waiting for one to come back. */
int dma_take_locked(struct dma *d, bool may_wait, struct dma_buf **out)
{
	while (!d->free) {
		/* what a dead context was given never comes back */
		if (d->is_dead)
			return -EIO;
		if (d->n_bufs < DMA_MAX_BUFS)
			return dma_grow_locked(d, out);
		if (!may_wait)
			return -EAGAIN;
		if (d->writes)
			dma_advance_locked(d, oldest_locked(d));
		else
			pthread_cond_wait(&d->moved, &d->lock);
	}
	*out = d->free;
	d->free = d->free->next;
	return 0;
}

/* A buffer that gathers, and that [@off, @end) continues or lies in. */
static struct dma_buf *gathering_locked(struct dma *d, uint64_t off, uint64_t end)
{
	for (struct dma_buf *b = d->writes; b; b = b->next)
		if (b->state == DMA_GATHERING && !b->is_full && b->off <= off &&
		    off <= b->end && end - b->off <= DMA_GATHER_LEN)
			return b;
	return NULL;
}

/* @spare is what to use if it is a new one. */
int dma_begin_locked(struct dma *d, uint64_t off, uint64_t end, bool is_small,
		     struct dma_buf **out)
{
	struct dma_buf *spare = NULL, *b, *in_way;
	int ret;

	land_done_locked(d);
	for (;;) {
		/* each step may let others in: look again after it */
		b = is_small ? gathering_locked(d, off, end) : NULL;
		in_way = dma_overlap_locked(d, off, end, b);
		if (in_way) {
			dma_advance_locked(d, in_way);
			continue;
		}
		if (b || spare)
			break;
		if (d->n_writes >= DMA_MAX_WRITES) {
			in_way = d->writes;
			while (in_way->next && in_way->state == DMA_BUSY)
				in_way = in_way->next;
			dma_advance_locked(d, in_way);
			continue;
		}
		ret = dma_take_locked(d, true, &spare);
		if (ret)
			return ret;
	}
	if (b) {
		if (spare)
			dma_put_locked(d, spare);
		b->end = end > b->end ? end : b->end;
	} else {
		b = spare;
		b->data = b->mem;
		b->off = off;
		b->end = end;
		list_add_locked(d, b);
	}
	b->state = DMA_BUSY;
	dma_drop_windows_locked(d, off, end);
	*out = b;
	return 0;
}

int dma_write(struct dma *d, uint64_t off, const void *src, size_t len, char **mem)
{
	bool is_small = len <= DMA_GATHER_MAX;
	struct dma_buf *b;
	int ret;

	if (d->is_dead)
		return -EIO;
	pthread_mutex_lock(&d->lock);
	ret = dma_begin_locked(d, off, off + len, is_small, &b);
	pthread_mutex_unlock(&d->lock);
	if (ret)
		return ret;

	if (mem && !is_small) {
		char *filled = *mem;

		*mem = b->mem;
		b->mem = filled;
		b->data = filled + ((const char *)src - filled);
	} else {
		memcpy(b->data + (off - b->off), src, len);
	}

	pthread_mutex_lock(&d->lock);
	b->is_full = !is_small || b->end - b->off >= DMA_GATHER_LEN;
	b->state = DMA_GATHERING;
	pthread_cond_broadcast(&d->moved);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

static struct dma_buf *full_locked(struct dma *d)
{
	for (struct dma_buf *b = d->writes; b; b = b->next)
		if (b->state == DMA_GATHERING && b->is_full)
			return b;
	return NULL;
}

void dma_push(struct dma *d)
{
	struct dma_buf *b;

	pthread_mutex_lock(&d->lock);
	while ((b = full_locked(d)))
		let_go_locked(d, b);
	pthread_mutex_unlock(&d->lock);
}

int dma_zero(struct dma *d, uint64_t off, uint64_t len)
{
	struct dma_buf *b;
	CUresult err;
	int ret;

	if (d->is_dead)
		return -EIO;
	pthread_mutex_lock(&d->lock);
	ret = dma_begin_locked(d, off, off + len, false, &b);
	pthread_mutex_unlock(&d->lock);
	if (ret)
		return ret;

	err = dma_enter(d);
	if (!err)
		err = cuda.cuMemsetD8Async(d->mem + off, 0, len, b->stream);
	if (!err)
		err = dma_wait(d, b);

	pthread_mutex_lock(&d->lock);
	if (err)
		ret = dma_fail_locked(d, "clearing memory", err);
	dma_write_ended_locked(d, b);
	pthread_mutex_unlock(&d->lock);
	return ret;
}

int dma_sync(struct dma *d)
{
	uint64_t lost, last;

	pthread_mutex_lock(&d->lock);
	lost = atomic_load(d->lost);
	last = d->seq;
	/* oldest first: what comes meanwhile is behind @last */
	while (d->writes && d->writes->seq <= last)
		dma_advance_locked(d, d->writes);
	pthread_mutex_unlock(&d->lock);
	return atomic_load(d->lost) != lost || d->is_dead ? -EIO : 0;
}
