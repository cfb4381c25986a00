/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUDA devices: the driver owns them, one allocation of each is shown as its
 * memory and copied by the DMA engine. No module, no slot.
 */
#include "backend/backend.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/dma.h"
#include "base/log.h"
#include "base/util.h"
#include "cuda/cuda.h"

#define PCI_VENDOR_NVIDIA 0x10de

/* What the driver may want later, for streams say: of "max", this is left. */
#define MARGIN       (64 * MIB)
#define MARGIN_SHARE 16 /* of a small device: this part of what is free */
#define VRAM_ALIGN   (2 * MIB) /* the driver's own page */

/* immutable after open, but for @dma */
struct device {
	CUdevice dev;
	CUcontext ctx;
	CUdeviceptr mem;
	uint64_t len;
	char name[64];
	char bdf[16];
	uint16_t vendor, device, subvendor, subdevice;
	struct dma dma;
};

struct cuda_backend {
	int driver_version; /* 1000 * major + 10 * minor */
	unsigned int n_open; /* devices with a context */
	struct device devices[BACKEND_MAX_DIES];
};

/* The pinned memory that this thread's next request is read into. */
static _Thread_local char *request_mem;

static struct dma *dma_of(struct backend *be, unsigned int die)
{
	struct cuda_backend *c = be->priv;

	return &c->devices[die].dma;
}

static int say_why(struct backend *be, const struct device *dev,
		   const char *what, CUresult err)
{
	snprintf(be->why, sizeof(be->why), "cuda: %s%s%s: %s",
		 dev ? dev->bdf : "", dev ? ": " : "", what, cuda_name(err));
	return cuda_errno(err);
}

static uint16_t read_id(const char *bdf, const char *file)
{
	char path[64];
	unsigned int id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bdf, file);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%x", &id) != 1)
		id = 0;
	fclose(f);
	return (uint16_t)id;
}

static CUresult identify(struct device *dev, int ordinal)
{
	CUresult err;

	err = cuda.cuDeviceGet(&dev->dev, ordinal);
	if (!err)
		err = cuda.cuDeviceGetName(dev->name, sizeof(dev->name),
					   dev->dev);
	if (!err)
		err = cuda.cuDeviceGetPCIBusId(dev->bdf, sizeof(dev->bdf),
					       dev->dev);
	if (err)
		return err;
	for (char *p = dev->bdf; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	dev->vendor = PCI_VENDOR_NVIDIA;
	dev->device = read_id(dev->bdf, "device");
	dev->subvendor = read_id(dev->bdf, "subsystem_vendor");
	dev->subdevice = read_id(dev->bdf, "subsystem_device");
	return CUDA_SUCCESS;
}

static int by_bdf(const void *a, const void *b)
{
	return strcmp(((const struct device *)a)->bdf,
		      ((const struct device *)b)->bdf);
}

/* The devices by PCI address, as everywhere; CUDA has the fastest first. */
static int find_devices(struct backend *be)
{
	struct cuda_backend *c = be->priv;
	CUresult err;
	int n;

	err = cuda.cuDriverGetVersion(&c->driver_version);
	if (!err)
		err = cuda.cuDeviceGetCount(&n);
	if (err)
		return say_why(be, NULL, "looking for devices", err);
	if (n > BACKEND_MAX_DIES)
		log_warn("cuda: %d devices, of which %d are shown", n,
			 BACKEND_MAX_DIES);
	be->n_dies = (unsigned int)MIN(n, BACKEND_MAX_DIES);
	for (unsigned int i = 0; i < be->n_dies; i++) {
		err = identify(&c->devices[i], (int)i);
		if (err)
			return say_why(be, NULL, "looking at a device", err);
	}
	qsort(c->devices, be->n_dies, sizeof(c->devices[0]), by_bdf);
	return 0;
}

static uint64_t most_of(uint64_t available)
{
	uint64_t margin = MIN(MARGIN, available / MARGIN_SHARE);

	return (available - margin) / VRAM_ALIGN * VRAM_ALIGN;
}

/* A context, and @len bytes (0: as many as there are) that hold zeroes. */
static int take_memory(struct backend *be, struct device *dev, uint64_t len)
{
	size_t available, total;
	CUresult err;

	err = cuda.cuMemGetInfo_v2(&available, &total);
	if (err)
		return say_why(be, dev, "cuMemGetInfo", err);
	dev->len = len ? len : most_of(available);
	err = cuda.cuMemAlloc_v2(&dev->mem, dev->len);
	if (err) {
		snprintf(be->why, sizeof(be->why),
			 "cuda: %s: cannot allocate %" PRIu64
			 " MiB of memory, %zu of %zu MiB are free: %s; give less with -o cuda_vram=SIZE",
			 dev->bdf, dev->len >> 20, available >> 20, total >> 20,
			 cuda_name(err));
		return cuda_errno(err);
	}
	/* nobody is to read what another process left */
	err = cuda.cuMemsetD8_v2(dev->mem, 0, dev->len);
	if (!err)
		err = cuda.cuCtxSynchronize();
	return err ? say_why(be, dev, "clearing memory", err) : 0;
}

static int open_device(struct backend *be, unsigned int die, uint64_t len)
{
	struct cuda_backend *c = be->priv;
	struct device *dev = &c->devices[die];
	CUresult err;
	int ret;

	err = cuda.cuCtxCreate_v2(&dev->ctx, CU_CTX_SCHED_BLOCKING_SYNC,
				  dev->dev);
	if (err)
		return say_why(be, dev, "no context", err);
	c->n_open++;
	ret = take_memory(be, dev, len);
	dma_init(&dev->dma, die, dev->ctx, dev->mem, dev->len,
		 &be->dies[die].lost);
	return ret;
}

/* Memory, buffers and streams go with the context. */
static void cuda_close(struct backend *be)
{
	struct cuda_backend *c = be->priv;

	for (unsigned int die = 0; die < c->n_open; die++) {
		dma_free(&c->devices[die].dma);
		cuda.cuCtxDestroy_v2(c->devices[die].ctx);
	}
	free(c);
}

/* "cuda" or "cuda:BYTES" */
static int cuda_backend_open(struct backend *be, const char *device)
{
	const char *size = strchr(device, ':');
	uint64_t len = size ? strtoull(size + 1, NULL, 10) : 0;
	int ret;

	ret = cuda_open(be->why, sizeof(be->why));
	if (ret)
		return ret;
	be->priv = calloc(1, sizeof(struct cuda_backend));
	if (!be->priv)
		return -ENOMEM;
	be->copy_name = "cuda";
	ret = find_devices(be);
	for (unsigned int die = 0; !ret && die < be->n_dies; die++)
		ret = open_device(be, die, len);
	if (ret)
		cuda_close(be);
	return ret;
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
	struct cuda_backend *c = be->priv;
	struct device *dev = &c->devices[die];

	memset(info, 0, sizeof(*info));
	info->alive = !dev->dma.is_dead;
	info->state = info->alive ? BS_STATE_ACTIVE : BS_STATE_DEAD;
	memcpy(info->bdf, dev->bdf, sizeof(info->bdf));
	info->vendor = dev->vendor;
	info->device = dev->device;
	info->subvendor = dev->subvendor;
	info->subdevice = dev->subdevice;
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
	struct device *dev = &c->devices[die];
	size_t available = 0, total = 0;

	if (!dev->dma.is_dead && !dma_enter(&dev->dma))
		cuda.cuMemGetInfo_v2(&available, &total);
	out->name = dev->name;
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

const struct backend_ops backend_cuda = {
	.name = "cuda",
	.open = cuda_backend_open,
	.close = cuda_close,
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
};
