/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning and the end of a device. */
#include "backend/dma.h"

#include <stdlib.h>
#include <string.h>

void dma_init(struct dma *d, unsigned int die, CUcontext ctx, CUdeviceptr mem,
	      uint64_t len, _Atomic uint64_t *lost)
{
	memset(d, 0, sizeof(*d));
	d->die = die;
	d->ctx = ctx;
	d->mem = mem;
	d->len = len;
	d->lost = lost;
	d->writes_tail = &d->writes;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->moved, NULL);
}

static void free_list(struct dma_buf *b)
{
	while (b) {
		struct dma_buf *next = b->next;

		free(b);
		b = next;
	}
}

/* Memory and streams go with the context. */
void dma_free(struct dma *d)
{
	dma_sync(d);
	free_list(d->free);
	free_list(d->abandoned);
	pthread_cond_destroy(&d->moved);
	pthread_mutex_destroy(&d->lock);
}
