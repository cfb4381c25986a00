/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CUDA devices are dies, and the memory that is taken of each. */
#include "backend/cuda_priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/util.h"

#define PCI_VENDOR_NVIDIA 0x10de
#define MAX_CARDS         64
#define REFUSAL_LEN       200 /* of the line that ends a refusal */
#define MAX_NAME          64 /* of a device in a list */

/* What the driver may want later, for streams say: of "max", this is left. */
#define MARGIN       (64 * MIB)
#define MARGIN_SHARE 16 /* of a small device: this part of what is free */
#define VRAM_ALIGN   (2 * MIB) /* the driver's own page */

/**
 * struct request - what the device string asks for
 * @vram:     bytes of each device
 * @is_max:   as many as there are; @has_vram: one of the two was said
 * @chunks:   addresses for more are wanted
 * @devices:  names with + between them, in the string; NULL: all
 */
struct request {
	uint64_t vram;
	bool is_max, has_vram;
	bool chunks;
	const char *devices;
	size_t devices_len;
};

static int say_why(struct backend *be, const char *bdf, const char *what,
		   CUresult err)
{
	snprintf(be->why, sizeof(be->why), "cuda: %s%s%s: %s", bdf ? bdf : "",
		 bdf ? ": " : "", what, cuda_name(err));
	return cuda_errno(err);
}

static int parse_part(struct request *r, const char *part, size_t len)
{
	static const char vram[] = "vram=", devices[] = "devices=";

	if (len == strlen("mem") && !strncmp(part, "mem", len)) {
		r->chunks = true;
	} else if (!strncmp(part, vram, strlen(vram))) {
		part += strlen(vram);
		r->has_vram = true;
		r->is_max = !strncmp(part, "max", strlen("max"));
		r->vram = strtoull(part, NULL, 10);
	} else if (!strncmp(part, devices, strlen(devices))) {
		r->devices = part + strlen(devices);
		r->devices_len = len - strlen(devices);
	} else {
		return -EINVAL;
	}
	return 0;
}

/* "cuda" or "cuda:KEY[=VALUE],..." */
static int parse(struct request *r, const char *device)
{
	const char *part = strchr(device, ':');
	int ret = 0;

	while (part && !ret) {
		size_t len = strcspn(++part, ",");

		ret = parse_part(r, part, len);
		part = part[len] ? part + len : NULL;
	}
	return ret;
}

/* ---- which ------------------------------------------------------------------ */

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

static CUresult identify(struct cuda_card *card, int ordinal)
{
	CUresult err;

	err = cuda.cuDeviceGet(&card->dev, ordinal);
	if (!err)
		err = cuda.cuDeviceGetName(card->name, sizeof(card->name),
					   card->dev);
	if (!err)
		err = cuda.cuDeviceGetPCIBusId(card->bdf, sizeof(card->bdf),
					       card->dev);
	if (err)
		return err;
	card->has_uuid = cuda_has_vmm() &&
			 !cuda.cuDeviceGetUuid_v2(&card->uuid, card->dev);
	for (char *p = card->bdf; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	card->vendor = PCI_VENDOR_NVIDIA;
	card->device = read_id(card->bdf, "device");
	card->subvendor = read_id(card->bdf, "subsystem_vendor");
	card->subdevice = read_id(card->bdf, "subsystem_device");
	return CUDA_SUCCESS;
}

static int by_bdf(const void *a, const void *b)
{
	return strcmp(((const struct cuda_card *)a)->bdf,
		      ((const struct cuda_card *)b)->bdf);
}

/* The devices by PCI address, as everywhere; CUDA has the fastest first. */
static int find_cards(struct backend *be, struct cuda_card *cards, int *n)
{
	struct cuda_backend *c = be->priv;
	CUresult err;

	err = cuda.cuDriverGetVersion(&c->driver_version);
	if (!err)
		err = cuda.cuDeviceGetCount(n);
	if (err)
		return say_why(be, NULL, "looking for devices", err);
	*n = MIN(*n, MAX_CARDS);
	for (int i = 0; i < *n; i++) {
		err = identify(&cards[i], i);
		if (err)
			return say_why(be, NULL, "looking at a device", err);
	}
	qsort(cards, (size_t)*n, sizeof(*cards), by_bdf);
	return 0;
}

/* A PCI address, with or without its domain, which may have eight digits. */
static bool is_bdf(const char *name, const char *bdf)
{
	unsigned int a[4] = { 0 }, b[4];
	int end = 0;

	if (sscanf(name, "%x:%x:%x.%x%n", &a[0], &a[1], &a[2], &a[3], &end) < 4) {
		a[0] = 0;
		end = 0;
		sscanf(name, "%x:%x.%x%n", &a[1], &a[2], &a[3], &end);
	}
	return end && !name[end] &&
	       sscanf(bdf, "%x:%x:%x.%x", &b[0], &b[1], &b[2], &b[3]) == 4 &&
	       !memcmp(a, b, sizeof(a));
}

/* "GPU-" and 32 hexadecimal digits, with or without hyphens */
static bool is_uuid(const char *name, const struct cuda_card *card)
{
	unsigned int n = 0;

	if (!card->has_uuid || strncasecmp(name, "GPU-", strlen("GPU-")) != 0)
		return false;
	for (const char *p = name + strlen("GPU-"); *p; p++) {
		static const char digits[] = "0123456789abcdef";
		uint8_t byte;

		if (*p == '-')
			continue;
		if (n == 2 * sizeof(card->uuid))
			return false;
		byte = card->uuid.bytes[n / 2];
		if (tolower((unsigned char)*p) !=
		    digits[n % 2 ? byte & 0xf : byte >> 4])
			return false;
		n++;
	}
	return n == 2 * sizeof(card->uuid);
}

static int find_by_name(const char *name, const struct cuda_card *cards, int n)
{
	char *end;
	unsigned long index = strtoul(name, &end, 10);

	if (isdigit((unsigned char)*name) && !*end)
		return index < (unsigned long)n ? (int)index : -1;
	for (int i = 0; i < n; i++)
		if (is_bdf(name, cards[i].bdf) || is_uuid(name, &cards[i]))
			return i;
	return -1;
}

static int pick_named(struct backend *be, const struct request *r,
		      const struct cuda_card *cards, int n, bool *is_picked)
{
	const char *at = r->devices, *end = at + r->devices_len;

	while (at <= end) {
		size_t len = MIN(strcspn(at, "+"), (size_t)(end - at));
		char name[MAX_NAME];
		int i;

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		i = find_by_name(name, cards, n);
		if (i < 0) {
			snprintf(be->why, sizeof(be->why),
				 "cuda: no device '%s' among %d; nvidia-smi -L lists them: give an index by PCI address, a PCI address or a UUID",
				 name, n);
			return -ENODEV;
		}
		is_picked[i] = true;
		at += len + 1;
	}
	return 0;
}

static int pick(struct backend *be, const struct request *r,
		const struct cuda_card *cards, int n)
{
	struct cuda_backend *c = be->priv;
	bool is_picked[MAX_CARDS] = { false };
	int ret = 0, n_picked = 0;

	if (r->devices)
		ret = pick_named(be, r, cards, n, is_picked);
	for (int i = 0; !ret && i < n; i++) {
		if (r->devices && !is_picked[i])
			continue;
		if (n_picked++ < BACKEND_MAX_DIES)
			c->devices[be->n_dies++].card = cards[i];
	}
	if (n_picked > BACKEND_MAX_DIES)
		log_warn("cuda: %d devices, of which %d are shown", n_picked,
			 BACKEND_MAX_DIES);
	return ret;
}

/* ---- memory ----------------------------------------------------------------- */

static uint64_t most_of(uint64_t available)
{
	uint64_t margin = MIN(MARGIN, available / MARGIN_SHARE);

	return (available - margin) / VRAM_ALIGN * VRAM_ALIGN;
}

/* One piece from the start of the space: others may import it. */
static int take_piece(struct cuda_device *dev)
{
	uint64_t len = (dev->len + dev->unit - 1) / dev->unit * dev->unit;
	int ret = cuda_make_piece(dev, len, &dev->vram);

	return ret ? ret : cuda_map_piece(dev, &dev->vram, 0);
}

static int no_memory(struct backend *be, const struct cuda_device *dev,
		     size_t available, size_t total, CUresult err)
{
	snprintf(be->why, sizeof(be->why),
		 "cuda: %s: cannot allocate %" PRIu64
		 " MiB of memory, %zu of %zu MiB are free: %s; give less with -o cuda_vram=SIZE",
		 dev->card.bdf, dev->len >> 20, available >> 20, total >> 20,
		 cuda_name(err));
	return cuda_errno(err);
}

static int clear_memory(struct backend *be, struct cuda_device *dev,
			CUdeviceptr mem)
{
	CUresult err;

	/* nobody is to read what another process left */
	err = cuda.cuMemsetD8_v2(mem, 0, dev->len);
	if (!err)
		err = cuda.cuCtxSynchronize();
	return err ? say_why(be, dev->card.bdf, "clearing memory", err) : 0;
}

/* vram holds zeroes; where it cannot be a piece it is an allocation. */
static int take_vram(struct backend *be, struct cuda_device *dev,
		     size_t available, size_t total)
{
	CUresult err;
	int ret = dev->base ? take_piece(dev) : -EOPNOTSUPP;

	if (ret == -ENOSPC)
		return no_memory(be, dev, available, total,
				 CUDA_ERROR_OUT_OF_MEMORY);
	if (!ret)
		return clear_memory(be, dev, dev->base);
	cuda_unreserve(dev);
	err = cuda.cuMemAlloc_v2(&dev->plain, dev->len);
	if (err)
		return no_memory(be, dev, available, total, err);
	return clear_memory(be, dev, dev->plain);
}

static int take_memory(struct backend *be, struct cuda_device *dev,
		       const struct request *r)
{
	size_t available, total;
	CUresult err;

	err = cuda.cuMemGetInfo_v2(&available, &total);
	if (err)
		return say_why(be, dev->card.bdf, "cuMemGetInfo", err);
	dev->len = r->is_max ? most_of(available) : r->vram;
	cuda_reserve(dev, dev->len, r->chunks, total);
	return dev->len ? take_vram(be, dev, available, total) : 0;
}

static int open_context(struct backend *be, unsigned int die)
{
	struct cuda_backend *c = be->priv;
	struct cuda_device *dev = &c->devices[die];
	CUresult err;

	err = cuda.cuCtxCreate_v2(&dev->ctx, CU_CTX_SCHED_BLOCKING_SYNC,
				  dev->card.dev);
	if (err)
		return say_why(be, dev->card.bdf, "no context", err);
	pthread_mutex_init(&dev->lock, NULL);
	dev->vram = (struct backend_chunk){ .fd = -1, .off = BACKEND_NOWHERE };
	c->n_open++;
	return 0;
}

static int open_device(struct backend *be, unsigned int die,
		       const struct request *r)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	int ret = open_context(be, die);

	if (ret)
		return ret;
	ret = take_memory(be, dev, r);
	be->dies[die].space = dev->has_chunks ? dev->space : dev->len;
	dma_init(&dev->dma, die, dev->ctx, dev->plain ? dev->plain : dev->base,
		 dev->len, &be->dies[die].lost);
	return ret;
}

/* What cards have to give, and the ways to ask for it. */
static int refuse(struct backend *be)
{
	size_t at = (size_t)snprintf(be->why, sizeof(be->why),
				     "cuda: say how much memory to take:");
	unsigned int die;
	int ret = 0;

	for (die = 0; !ret && die < be->n_dies; die++) {
		const char *bdf = cuda_device_of(be, die)->card.bdf;
		size_t available, total;
		CUresult err;

		if (at > sizeof(be->why) - REFUSAL_LEN)
			break;
		ret = open_context(be, die);
		if (ret)
			return ret;
		err = cuda.cuMemGetInfo_v2(&available, &total);
		if (err)
			return say_why(be, bdf, "cuMemGetInfo", err);
		at += (size_t)snprintf(be->why + at, sizeof(be->why) - at,
				       "%s %s has %zu of %zu MiB free",
				       die ? "," : "", bdf, available >> 20,
				       total >> 20);
	}
	if (die < be->n_dies)
		at += (size_t)snprintf(be->why + at, sizeof(be->why) - at,
				       " and %u more", be->n_dies - die);
	snprintf(be->why + at, sizeof(be->why) - at,
		 ": -o cuda_vram=8G, cuda_vram=max, or mem for files that take it as they grow; cuda_devices=LIST for some cards alone");
	return -EINVAL;
}

static int open_cards(struct backend *be, const struct request *r)
{
	struct cuda_card cards[MAX_CARDS];
	int ret, n = 0;

	ret = find_cards(be, cards, &n);
	if (!ret)
		ret = pick(be, r, cards, n);
	if (!ret && !r->has_vram && !r->chunks)
		return refuse(be);
	for (unsigned int die = 0; !ret && die < be->n_dies; die++)
		ret = open_device(be, die, r);
	return ret;
}

int cuda_backend_open(struct backend *be, const char *device)
{
	struct request r = { 0 };
	int ret = parse(&r, device);

	if (!ret)
		ret = cuda_open(be->why, sizeof(be->why));
	if (ret)
		return ret;
	be->priv = calloc(1, sizeof(struct cuda_backend));
	if (!be->priv)
		return -ENOMEM;
	be->copy_name = "cuda";
	ret = open_cards(be, &r);
	if (ret)
		cuda_backend_close(be);
	return ret;
}

/* Buffers, streams and an ordinary allocation go with the context. */
void cuda_backend_close(struct backend *be)
{
	struct cuda_backend *c = be->priv;

	for (unsigned int die = 0; die < c->n_open; die++) {
		struct cuda_device *dev = &c->devices[die];

		if (dev->dma.ctx)
			dma_free(&dev->dma);
		if (!cuda.cuCtxSetCurrent(dev->ctx))
			cuda_unreserve(dev);
		cuda.cuCtxDestroy_v2(dev->ctx);
		pthread_mutex_destroy(&dev->lock);
	}
	free(c);
}
