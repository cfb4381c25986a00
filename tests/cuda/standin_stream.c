/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams are threads; events are work that says it was reached. */
#include "standin.h"

#include <stdlib.h>
#include <time.h>

#include "base/util.h"

struct CUstream_st {
	struct CUctx_st *ctx;
	struct CUstream_st *next; /* under ctx->lock, as all below */
	bool is_independent; /* of the null stream */
	struct standin_work *head;
	struct standin_work **tail;
	bool is_busy;
	bool is_ending;
	pthread_cond_t wake; /* work, or the end */
	pthread_cond_t idle;
	pthread_t thread;
};

/* Points in a stream: reached is behind recorded while there is work ahead. */
struct CUevent_st {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t done;
	unsigned long recorded;
	unsigned long reached;
};

struct mark {
	struct standin_work work;
	CUevent event;
	unsigned long n;
};

static void pause_us(unsigned long us)
{
	struct timespec ts = { .tv_sec = (time_t)(us / 1000000),
			       .tv_nsec = (long)(us % 1000000) * 1000 };

	if (us)
		nanosleep(&ts, NULL);
}

static void *stream_thread(void *arg)
{
	CUstream s = arg;
	struct CUctx_st *ctx = s->ctx;
	const char *us = getenv("STANDIN_COPY_US");
	unsigned long cost = us ? strtoul(us, NULL, 10) : 0;

	pthread_mutex_lock(&ctx->lock);
	for (;;) {
		struct standin_work *work = s->head;
		CUresult err = CUDA_SUCCESS;
		bool is_lost = ctx->err;

		if (!work) {
			s->is_busy = false;
			pthread_cond_broadcast(&s->idle);
			if (s->is_ending)
				break;
			pthread_cond_wait(&s->wake, &ctx->lock);
			continue;
		}
		s->is_busy = true;
		s->head = work->next;
		if (!s->head)
			s->tail = &s->head;
		pthread_mutex_unlock(&ctx->lock);
		pause_us(cost);
		if (!is_lost || work->is_event)
			err = work->run(work);
		if (work->free)
			work->free(work);
		pthread_mutex_lock(&ctx->lock);
		if (err && !ctx->err)
			ctx->err = err;
	}
	pthread_mutex_unlock(&ctx->lock);
	return NULL;
}

static CUresult stream_new(CUcontext ctx, unsigned int flags, CUstream *out)
{
	CUstream s = calloc(1, sizeof(*s));

	s->ctx = ctx;
	s->tail = &s->head;
	s->is_independent = flags & CU_STREAM_NON_BLOCKING;
	pthread_cond_init(&s->wake, NULL);
	pthread_cond_init(&s->idle, NULL);
	pthread_mutex_lock(&ctx->lock);
	s->next = ctx->streams;
	ctx->streams = s;
	pthread_mutex_unlock(&ctx->lock);
	if (pthread_create(&s->thread, NULL, stream_thread, s))
		abort();
	*out = s;
	return CUDA_SUCCESS;
}

/* Ends when its work is done; it is off the list already. */
static void stream_end(CUstream s)
{
	pthread_mutex_lock(&s->ctx->lock);
	s->is_ending = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->ctx->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->wake);
	pthread_cond_destroy(&s->idle);
	free(s);
}

CUresult standin_ctx_start(CUcontext ctx)
{
	pthread_mutex_init(&ctx->lock, NULL);
	return stream_new(ctx, 0, &ctx->null);
}

void standin_ctx_end(CUcontext ctx)
{
	while (ctx->streams) {
		CUstream s = ctx->streams;

		ctx->streams = s->next;
		stream_end(s);
	}
	pthread_mutex_destroy(&ctx->lock);
}

/* The stream of this handle in this context; NULL if there is none. */
static CUstream find_locked(CUcontext ctx, CUstream stream)
{
	CUstream s = ctx->streams;

	if (!stream)
		return ctx->null;
	while (s && s != stream)
		s = s->next;
	return s;
}

CUresult standin_post(CUcontext ctx, CUstream stream, struct standin_work *work)
{
	CUstream s;

	work->next = NULL;
	pthread_mutex_lock(&ctx->lock);
	s = find_locked(ctx, stream);
	if (s) {
		*s->tail = work;
		s->tail = &work->next;
		s->is_busy = true;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&ctx->lock);
	return s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult wait_locked(CUcontext ctx, CUstream s)
{
	while (s->is_busy)
		pthread_cond_wait(&s->idle, &ctx->lock);
	return ctx->err;
}

CUresult standin_wait(CUcontext ctx, CUstream stream)
{
	CUresult err = CUDA_ERROR_INVALID_HANDLE;
	CUstream s;

	pthread_mutex_lock(&ctx->lock);
	s = find_locked(ctx, stream);
	if (s)
		err = wait_locked(ctx, s);
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

CUresult standin_wait_all(CUcontext ctx, bool with_independent)
{
	CUresult err = CUDA_SUCCESS;

	pthread_mutex_lock(&ctx->lock);
	for (CUstream s = ctx->streams; s; s = s->next)
		if (!err && (with_independent || !s->is_independent))
			err = wait_locked(ctx, s);
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	ENTER_TOUCH(cuStreamCreate, ctx);
	return stream_new(ctx, flags, stream);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	CUstream *p;

	ENTER_TOUCH(cuStreamDestroy_v2, ctx);
	pthread_mutex_lock(&ctx->lock);
	for (p = &ctx->streams; *p && *p != stream; p = &(*p)->next)
		;
	if (*p)
		*p = stream->next;
	pthread_mutex_unlock(&ctx->lock);
	stream_end(stream);
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	ENTER_TOUCH(cuStreamSynchronize, ctx);
	return standin_wait(ctx, stream);
}

CUresult cuStreamQuery(CUstream stream)
{
	CUresult err = CUDA_ERROR_INVALID_HANDLE;
	CUstream s;

	ENTER_CTX(cuStreamQuery, ctx);
	pthread_mutex_lock(&ctx->lock);
	s = find_locked(ctx, stream);
	if (s)
		err = s->is_busy ? CUDA_ERROR_NOT_READY : ctx->err;
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	ENTER_CTX(cuEventCreate, ctx);
	(void)ctx;
	(void)flags;
	*event = calloc(1, sizeof(**event));
	pthread_mutex_init(&(*event)->lock, NULL);
	pthread_cond_init(&(*event)->done, NULL);
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	ENTER(cuEventDestroy_v2);
	pthread_mutex_destroy(&event->lock);
	pthread_cond_destroy(&event->done);
	free(event);
	return CUDA_SUCCESS;
}

static CUresult mark_run(struct standin_work *work)
{
	struct mark *m = (struct mark *)work;

	pthread_mutex_lock(&m->event->lock);
	if (m->n > m->event->reached)
		m->event->reached = m->n;
	pthread_cond_broadcast(&m->event->done);
	pthread_mutex_unlock(&m->event->lock);
	return CUDA_SUCCESS;
}

static void mark_free(struct standin_work *work)
{
	free(work);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct mark *m;
	CUresult err;

	ENTER_TOUCH(cuEventRecord, ctx);
	m = calloc(1, sizeof(*m));
	m->work.run = mark_run;
	m->work.is_event = true;
	m->work.free = mark_free;
	m->event = event;
	pthread_mutex_lock(&event->lock);
	m->n = ++event->recorded;
	pthread_mutex_unlock(&event->lock);
	err = standin_post(ctx, stream, &m->work);
	if (err)
		free(m);
	return err;
}

CUresult cuEventSynchronize(CUevent event)
{
	ENTER(cuEventSynchronize);
	pthread_mutex_lock(&event->lock);
	while (event->reached < event->recorded)
		pthread_cond_wait(&event->done, &event->lock);
	pthread_mutex_unlock(&event->lock);
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event)
{
	bool is_done;

	ENTER(cuEventQuery);
	pthread_mutex_lock(&event->lock);
	is_done = event->reached == event->recorded;
	pthread_mutex_unlock(&event->lock);
	return is_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
