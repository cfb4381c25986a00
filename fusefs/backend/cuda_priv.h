/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files of the CUDA backend: cuda_open.c finds and opens devices,
 * cuda_chunk.c maps memory, cuda.c does the rest.
 */
#ifndef K80FS_CUDA_PRIV_H
#define K80FS_CUDA_PRIV_H

#include <pthread.h>

#include "backend/backend.h"
#include "backend/dma.h"

/**
 * struct cuda_card - a device that CUDA has
 * @has_uuid: the driver can say it
 */
struct cuda_card {
	CUdevice dev;
	bool has_uuid;
	struct cuda_uuid uuid;
	char name[64];
	char bdf[16];
	uint16_t vendor, device, subvendor, subdevice;
};

/**
 * struct cuda_device - one that is a die; immutable after open, but for @dma
 * and what @lock guards
 * @len:  of vram
 * @base: of the reserved addresses, of which vram has the first; 0: none are
 * @unit: what lengths and offsets of chunks are multiples of
 * @has_chunks: others than vram's can be mapped
 * @vram: in one piece; its fd is -1 if it is @plain
 * @plain: vram as an ordinary allocation, 0 if it is none
 */
struct cuda_device {
	struct cuda_card card;
	CUcontext ctx;
	uint64_t len;
	CUdeviceptr base;
	uint64_t space, unit;
	bool has_chunks;
	struct backend_chunk vram;
	CUdeviceptr plain;
	struct dma dma;

	pthread_mutex_t lock; /* guards all below */
	char why[96]; /* the newest call for chunks that failed */
};

struct cuda_backend {
	int driver_version; /* 1000 * major + 10 * minor */
	unsigned int n_open; /* devices with a context */
	struct cuda_device devices[BACKEND_MAX_DIES];
};

static inline struct cuda_device *cuda_device_of(const struct backend *be,
						 unsigned int die)
{
	return &((struct cuda_backend *)be->priv)->devices[die];
}

/** cuda_backend_open(), cuda_backend_close() - the ops of these names */
int cuda_backend_open(struct backend *be, const char *device);
void cuda_backend_close(struct backend *be);

/**
 * cuda_reserve() - addresses for @len bytes of vram and, if @want, for chunks
 * @total: memory of the device
 *
 * The device's context is current.
 *
 * Return: 0, @dev->base is set; -EOPNOTSUPP, @dev->why says what failed.
 */
int cuda_reserve(struct cuda_device *dev, uint64_t len, bool want,
		 uint64_t total);

/** cuda_unreserve() - nothing but vram is mapped any more, and that goes */
void cuda_unreserve(struct cuda_device *dev);

/* backend ops */
bool cuda_has_chunks(const struct backend *be, unsigned int die);
void cuda_chunk_why(struct backend *be, unsigned int die, char *buf, size_t len);
uint64_t cuda_chunk_unit(struct backend *be, unsigned int die);
int cuda_chunk_make(struct backend *be, unsigned int die, uint64_t len,
		    struct backend_chunk *out);
int cuda_chunk_import(struct backend *be, unsigned int die, int fd,
		      uint64_t len, struct backend_chunk *out);
int cuda_chunk_map(struct backend *be, unsigned int die,
		   struct backend_chunk *c, uint64_t off);
int cuda_chunk_unmap(struct backend *be, unsigned int die,
		     struct backend_chunk *c);
void cuda_chunk_free(struct backend *be, unsigned int die,
		     struct backend_chunk *c);

/**
 * cuda_make_piece(), cuda_map_piece() - as cuda_chunk_make() and _map(), of a
 * device that is being opened: its context is current
 */
int cuda_make_piece(struct cuda_device *dev, uint64_t len,
		    struct backend_chunk *out);
int cuda_map_piece(struct cuda_device *dev, struct backend_chunk *c,
		   uint64_t off);

#endif /* K80FS_CUDA_PRIV_H */
