/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is made, mapped and given away apart from one another: the
 * driver's virtual memory calls.
 */
#include "backend/cuda_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/util.h"

#define MIN_UNIT (2 * MIB) /* so that files look the same everywhere */

/* Addresses: enough for files to grow into fresh ones all the time. */
#define SPACE_SHARE 16 /* times the memory */
#define SPACE_LEAST 2
#define SPACE_MOST  ((uint64_t)8 << 40)

/* -errno of a failed call, which is kept for cuda_chunk_why() */
static int fail(struct cuda_device *dev, const char *call, CUresult err)
{
	pthread_mutex_lock(&dev->lock);
	snprintf(dev->why, sizeof(dev->why), "%s: %s", call, cuda_name(err));
	pthread_mutex_unlock(&dev->lock);
	return err == CUDA_ERROR_OUT_OF_MEMORY ? -ENOSPC : -EIO;
}

static int fail_without(struct cuda_device *dev, const char *what)
{
	pthread_mutex_lock(&dev->lock);
	snprintf(dev->why, sizeof(dev->why), "%s", what);
	pthread_mutex_unlock(&dev->lock);
	return -EOPNOTSUPP;
}

static struct cuda_alloc_prop prop_of(const struct cuda_device *dev)
{
	return (struct cuda_alloc_prop){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handle_types = CU_MEM_HANDLE_TYPE_POSIX_FD,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, dev->card.dev },
	};
}

static int check_attribute(struct cuda_device *dev, int attribute,
			   const char *what)
{
	CUresult err;
	int value = 0;

	err = cuda.cuDeviceGetAttribute(&value, attribute, dev->card.dev);
	if (err)
		return fail(dev, "cuDeviceGetAttribute", err);
	return value ? 0 : fail_without(dev, what);
}

static int find_unit(struct cuda_device *dev)
{
	struct cuda_alloc_prop prop = prop_of(dev);
	size_t unit = 0;
	CUresult err;

	err = cuda.cuMemGetAllocationGranularity(
		&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	if (err)
		return fail(dev, "cuMemGetAllocationGranularity", err);
	dev->unit = MAX(unit, MIN_UNIT);
	return 0;
}

static uint64_t power_of_two(uint64_t least)
{
	uint64_t v = 1;

	while (v < least)
		v *= 2;
	return v;
}

static int reserve(struct cuda_device *dev, uint64_t most, uint64_t least)
{
	CUresult err;

	for (uint64_t len = most;; len /= 2) {
		err = cuda.cuMemAddressReserve(&dev->base, len, 0, 0, 0);
		dev->space = len;
		if (!err || len / 2 < least)
			break;
	}
	if (err)
		dev->base = 0;
	return err ? fail(dev, "cuMemAddressReserve", err) : 0;
}

int cuda_reserve(struct cuda_device *dev, uint64_t len, bool want, uint64_t total)
{
	uint64_t vram;

	if (!cuda_has_vmm())
		return fail_without(dev, "the driver has no cuMemCreate");
	if (check_attribute(
		    dev, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
		    "the device has no virtual memory management") ||
	    check_attribute(dev,
			    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FD_SUPPORTED,
			    "memory of the device has no descriptor") ||
	    find_unit(dev))
		return -EOPNOTSUPP;
	vram = (len + dev->unit - 1) / dev->unit * dev->unit;
	if (!want)
		return reserve(dev, vram, vram) ? -EOPNOTSUPP : 0;
	if (reserve(dev, MIN(power_of_two(SPACE_SHARE * total), SPACE_MOST),
		    SPACE_LEAST * total))
		return -EOPNOTSUPP;
	dev->has_chunks = true;
	return 0;
}

void cuda_unreserve(struct cuda_device *dev)
{
	if (!dev->base)
		return;
	if (dev->vram.handle) {
		cuda.cuMemUnmap(dev->base, dev->vram.len);
		cuda.cuMemRelease(dev->vram.handle);
		close(dev->vram.fd);
	}
	cuda.cuMemAddressFree(dev->base, dev->space);
	dev->base = 0;
	dev->vram = (struct backend_chunk){ .fd = -1, .off = BACKEND_NOWHERE };
	dev->has_chunks = false;
}

bool cuda_has_chunks(const struct backend *be, unsigned int die)
{
	return cuda_device_of(be, die)->has_chunks;
}

void cuda_chunk_why(struct backend *be, unsigned int die, char *buf, size_t len)
{
	struct cuda_device *dev = cuda_device_of(be, die);

	pthread_mutex_lock(&dev->lock);
	snprintf(buf, len, "%s", dev->why);
	pthread_mutex_unlock(&dev->lock);
}

uint64_t cuda_chunk_unit(struct backend *be, unsigned int die)
{
	return cuda_device_of(be, die)->unit;
}

/* Asked before the driver is, which may call it anything. */
static bool has_fd(struct cuda_device *dev)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else
		fail_without(dev, strerror(errno));
	return fd >= 0;
}

int cuda_make_piece(struct cuda_device *dev, uint64_t len,
		    struct backend_chunk *out)
{
	struct cuda_alloc_prop prop = prop_of(dev);
	CUmemHandle handle;
	CUresult err;
	int fd = -1;

	if (!has_fd(dev))
		return -ENFILE;
	err = cuda.cuMemCreate(&handle, len, &prop, 0);
	if (err)
		return fail(dev, "cuMemCreate", err);
	err = cuda.cuMemExportToShareableHandle(&fd, handle,
						CU_MEM_HANDLE_TYPE_POSIX_FD, 0);
	if (err) {
		cuda.cuMemRelease(handle);
		return has_fd(dev)
			       ? fail(dev, "cuMemExportToShareableHandle", err)
			       : -ENFILE;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	*out = (struct backend_chunk){ handle, len, fd, BACKEND_NOWHERE };
	return 0;
}

int cuda_map_piece(struct cuda_device *dev, struct backend_chunk *c, uint64_t off)
{
	const struct cuda_access access = {
		{ CU_MEM_LOCATION_TYPE_DEVICE, dev->card.dev },
		CU_MEM_ACCESS_READWRITE,
	};
	CUresult err;

	err = cuda.cuMemMap(dev->base + off, c->len, 0, c->handle, 0);
	if (err)
		return fail(dev, "cuMemMap", err);
	err = cuda.cuMemSetAccess(dev->base + off, c->len, &access, 1);
	if (err) {
		cuda.cuMemUnmap(dev->base + off, c->len);
		return fail(dev, "cuMemSetAccess", err);
	}
	c->off = off;
	return 0;
}

static int enter(struct cuda_device *dev)
{
	CUresult err = dma_enter(&dev->dma);

	return err ? fail(dev, "cuCtxSetCurrent", err) : 0;
}

int cuda_chunk_make(struct backend *be, unsigned int die, uint64_t len,
		    struct backend_chunk *out)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	int ret = enter(dev);

	return ret ? ret : cuda_make_piece(dev, len, out);
}

int cuda_chunk_import(struct backend *be, unsigned int die, int fd,
		      uint64_t len, struct backend_chunk *out)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	CUmemHandle handle;
	CUresult err;
	int ret = enter(dev);

	if (ret)
		return ret;
	if (!has_fd(dev))
		return -ENFILE;
	err = cuda.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
						  CU_MEM_HANDLE_TYPE_POSIX_FD);
	if (err)
		return has_fd(dev)
			       ? fail(dev, "cuMemImportFromShareableHandle", err)
			       : -ENFILE;
	*out = (struct backend_chunk){ handle, len, fd, BACKEND_NOWHERE };
	return 0;
}

int cuda_chunk_map(struct backend *be, unsigned int die,
		   struct backend_chunk *c, uint64_t off)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	int ret = enter(dev);

	return ret ? ret : cuda_map_piece(dev, c, off);
}

int cuda_chunk_unmap(struct backend *be, unsigned int die,
		     struct backend_chunk *c)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	CUresult err;
	int ret = enter(dev);

	if (ret)
		return ret;
	err = cuda.cuMemUnmap(dev->base + c->off, c->len);
	if (err)
		return fail(dev, "cuMemUnmap", err);
	c->off = BACKEND_NOWHERE;
	return 0;
}

void cuda_chunk_free(struct backend *be, unsigned int die,
		     struct backend_chunk *c)
{
	struct cuda_device *dev = cuda_device_of(be, die);
	CUresult err = dma_enter(&dev->dma);

	if (!err)
		err = cuda.cuMemRelease(c->handle);
	if (err)
		fail(dev, "cuMemRelease", err);
	close(c->fd);
	*c = (struct backend_chunk){ .fd = -1, .off = BACKEND_NOWHERE };
}
