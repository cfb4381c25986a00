/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUDA devices: the driver owns them, memory of each is taken and copied by the
 * DMA engine. No module, no slot.
 */
#include "backend/cuda_priv.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

/* The pinned memory that this thread's next request is read into. */
static _Thread_local char *request_mem;

static struct dma *dma_of(struct backend *be, unsigned int die)
{
	return &cuda_device_of(be, die)->dma;
}

/* No slot: every die is always in. */
static int cuda_bind(struct backend *be, unsigned int die, unsigned int flags)
{
	(void)be;
	(void)die;
	return flags ? -EOPNOTSUPP : 0;
}

static int cuda_unbind(struct backend *be, unsigned int die)
{
	(void)be;
	(void)die;
	return 0;
}

static void cuda_rest(struct backend *be, unsigned int die)
{
	(void)be;
	(void)die;
}

static int cuda_read(struct backend *be, unsigned int die, uint64_t off,
		     void *buf, size_t len)
{
	struct dma *d = dma_of(be, die);
	struct dma_loan loan;
	int ret;

	ret = dma_lend(d, NULL, off, len, &loan);
	if (ret)
		return ret;
	memcpy(buf, loan.data, len);
	dma_return(d, &loan);
	return 0;
}

static int cuda_write(struct backend *be, unsigned int die, uint64_t off,
		      const void *buf, size_t len)
{
	size_t at = (uintptr_t)buf - (uintptr_t)request_mem;
	bool is_pinned = request_mem && at < DMA_BUF_LEN;

	return dma_write(dma_of(be, die), off, buf, len,
			 is_pinned ? &request_mem : NULL);
}

static int cuda_zero(struct backend *be, unsigned int die, uint64_t off,
		     uint64_t len)
{
	return dma_zero(dma_of(be, die), off, len);
}

static int cuda_sync(struct backend *be, unsigned int die)
{
	return dma_sync(dma_of(be, die));
}

static int cuda_info(struct backend *be, unsigned int die, struct bs_info *info)
{
	struct cuda_device *dev = cuda_device_of(be, die);

	memset(info, 0, sizeof(*info));
	info->alive = !dev->dma.is_dead;
	info->state = info->alive ? BS_STATE_ACTIVE : BS_STATE_DEAD;
	memcpy(info->bdf, dev->card.bdf, sizeof(info->bdf));
	info->vendor = dev->card.vendor;
	info->device = dev->card.device;
	info->subvendor = dev->card.subvendor;
	info->subdevice = dev->card.subdevice;
	info->vram_bytes = dev->len;
	dma_error(&dev->dma, info->last_error, sizeof(info->last_error));
	return 0;
}

static int cuda_poll_fd(struct backend *be)
{
	(void)be;
	return -1;
}

static void cuda_poll_ack(struct backend *be)
{
	(void)be;
}

static void cuda_describe(struct backend *be, unsigned int die,
			  struct backend_device *out)
{
	struct cuda_backend *c = be->priv;
	struct cuda_device *dev = &c->devices[die];
	size_t available = 0, total = 0;

	if (!dev->dma.is_dead && !dma_enter(&dev->dma))
		cuda.cuMemGetInfo_v2(&available, &total);
	out->name = dev->card.name;
	out->driver = "nvidia";
	out->driver_version = (unsigned int)c->driver_version;
	out->memory_free = available;
	out->memory_total = total;
}

static void *cuda_reader_new(struct backend *be, unsigned int die)
{
	return dma_reader_new(dma_of(be, die));
}

static void cuda_reader_end(struct backend *be, unsigned int die, void *reader)
{
	dma_reader_end(dma_of(be, die), reader);
}

static int cuda_lend(struct backend *be, unsigned int die, void *reader,
		     uint64_t off, size_t len, struct backend_loan *loan)
{
	struct dma_loan l;
	int ret;

	ret = dma_lend(dma_of(be, die), reader, off, len, &l);
	if (ret)
		return ret;
	loan->data = l.data;
	loan->buf = l.buf;
	loan->reader = l.reader;
	return 0;
}

static void cuda_give_back(struct backend *be, unsigned int die,
			   struct backend_loan *loan)
{
	struct dma_loan l = { loan->data, loan->buf, loan->reader };

	dma_return(dma_of(be, die), &l);
}

static void cuda_push(struct backend *be, unsigned int die)
{
	dma_push(dma_of(be, die));
}

static void *cuda_request_buf(struct backend *be, size_t len)
{
	struct dma *d = dma_of(be, 0);

	if (!request_mem && len <= DMA_BUF_LEN && !d->is_dead)
		request_mem = dma_alloc(d);
	return request_mem;
}

static void cuda_forget(struct backend *be, unsigned int die, uint64_t off,
			uint64_t len)
{
	dma_forget(dma_of(be, die), off, off + len);
}

static void cuda_reader_limit(struct backend *be, unsigned int die,
			      void *reader, uint64_t from, uint64_t to)
{
	dma_reader_limit(dma_of(be, die), reader, from, to);
}

static int cuda_copy(struct backend *be, unsigned int die_from, uint64_t from,
		     unsigned int die_to, uint64_t to, uint64_t len)
{
	return dma_copy(dma_of(be, die_from), from, dma_of(be, die_to), to, len);
}

static int cuda_uuid(struct backend *be, unsigned int die,
		     uint8_t uuid[BACKEND_UUID_LEN])
{
	const struct cuda_card *card = &cuda_device_of(be, die)->card;

	if (!card->has_uuid)
		return -EOPNOTSUPP;
	memcpy(uuid, card->uuid.bytes, BACKEND_UUID_LEN);
	return 0;
}

static int cuda_free_memory(struct backend *be, unsigned int die,
			    uint64_t *available, uint64_t *total)
{
	size_t now_free, all;
	CUresult err = dma_enter(dma_of(be, die));

	if (!err)
		err = cuda.cuMemGetInfo_v2(&now_free, &all);
	if (err)
		return cuda_errno(err);
	*available = now_free;
	*total = all;
	return 0;
}

static int cuda_vram_fd(struct backend *be, unsigned int die)
{
	return cuda_device_of(be, die)->vram.fd;
}

const struct backend_ops backend_cuda = {
	.name = "cuda",
	.open = cuda_backend_open,
	.close = cuda_backend_close,
	.bind = cuda_bind,
	.unbind = cuda_unbind,
	.rest = cuda_rest,
	.read = cuda_read,
	.write = cuda_write,
	.zero = cuda_zero,
	.sync = cuda_sync,
	.info = cuda_info,
	.poll_fd = cuda_poll_fd,
	.poll_ack = cuda_poll_ack,
	.describe = cuda_describe,
	.reader_new = cuda_reader_new,
	.reader_end = cuda_reader_end,
	.lend = cuda_lend,
	.give_back = cuda_give_back,
	.push = cuda_push,
	.request_buf = cuda_request_buf,
	.has_chunks = cuda_has_chunks,
	.chunk_why = cuda_chunk_why,
	.chunk_unit = cuda_chunk_unit,
	.chunk_make = cuda_chunk_make,
	.chunk_import = cuda_chunk_import,
	.chunk_map = cuda_chunk_map,
	.chunk_unmap = cuda_chunk_unmap,
	.chunk_free = cuda_chunk_free,
	.forget = cuda_forget,
	.reader_limit = cuda_reader_limit,
	.copy = cuda_copy,
	.uuid = cuda_uuid,
	.free_memory = cuda_free_memory,
	.vram_fd = cuda_vram_fd,
};
