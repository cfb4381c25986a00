/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct pool_work *head; /* under lock, as all below */
	struct pool_work **tail;
	bool is_stopping;
	unsigned int n_threads; /* immutable after start */
	pthread_t threads[];
};

static pthread_once_t bounce_once = PTHREAD_ONCE_INIT;
static pthread_key_t bounce_key;

static void bounce_free(void *buf)
{
	munmap(buf, POOL_REQUEST_LEN);
}

static void bounce_make_key(void)
{
	pthread_key_create(&bounce_key, bounce_free);
}

void *pool_map(size_t len)
{
	const size_t align = (size_t)2 << 20; /* a huge page of x86 */
	char *map, *buf;
	size_t head;

	/* one page too much, then cut to an aligned piece */
	map = mmap(NULL, len + align, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	head = (align - (size_t)map % align) % align;
	buf = map + head;
	if (head)
		munmap(map, head);
	munmap(buf + len, align - head);
	madvise(buf, len, MADV_HUGEPAGE);
	return buf;
}

void *pool_request_buf(void)
{
	void *buf;

	pthread_once(&bounce_once, bounce_make_key);
	buf = pthread_getspecific(bounce_key);
	if (buf)
		return buf;
	buf = pool_map(POOL_REQUEST_LEN);
	if (buf && pthread_setspecific(bounce_key, buf)) {
		bounce_free(buf);
		return NULL;
	}
	return buf;
}

void *pool_bounce(void)
{
	char *buf = pool_request_buf();

	return buf ? buf + POOL_REQUEST_LEN - POOL_BOUNCE_LEN : NULL;
}

static void *pool_thread(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct pool_work *work = p->head;

		if (!work) {
			if (p->is_stopping)
				break;
			pthread_cond_wait(&p->wake, &p->lock);
			continue;
		}
		p->head = work->next;
		if (!p->head)
			p->tail = &p->head;
		pthread_mutex_unlock(&p->lock);
		work->fn(work);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct pool *pool_start(unsigned int n_threads)
{
	struct pool *p;
	int ret;

	p = calloc(1, sizeof(*p) + n_threads * sizeof(p->threads[0]));
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	p->tail = &p->head;
	for (; p->n_threads < n_threads; p->n_threads++) {
		ret = pthread_create(&p->threads[p->n_threads], NULL,
				     pool_thread, p);
		if (ret) {
			pool_stop(p);
			errno = ret;
			return NULL;
		}
	}
	return p;
}

void pool_stop(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_stopping = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void pool_submit(struct pool *p, struct pool_work *work)
{
	work->next = NULL;
	pthread_mutex_lock(&p->lock);
	*p->tail = work;
	p->tail = &work->next;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}
