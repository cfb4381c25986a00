/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that another process gave away in chunks, mapped behind one another.
 */
#ifndef K80FS_CUDA_RANGE_H
#define K80FS_CUDA_RANGE_H

#include "cuda/cuda.h"

/**
 * struct cuda_range - a range of addresses; all zero at first
 * @ptr:   0 until it is reserved
 * @bytes: of it
 * @at:    bytes from its start that have memory behind them
 * @len:   bytes of each of the @n chunks, @room for more
 * @call:  the entry point that failed last
 */
struct cuda_range {
	CUdeviceptr ptr;
	uint64_t bytes;
	uint64_t at;
	uint64_t *len;
	unsigned int n, room;
	const char *call;
};

/** cuda_range_reserve() - addresses for @bytes, not 0; no memory yet */
CUresult cuda_range_reserve(struct cuda_range *r, uint64_t bytes);

/**
 * cuda_range_add() - put a chunk behind the others
 * @fd: an exported descriptor; stays the caller's
 *
 * Return: CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE also if there is no room.
 */
CUresult cuda_range_add(struct cuda_range *r, int fd, uint64_t len);

/** cuda_range_allow() - let a device use it, once it is full
 * @access: CU_MEM_ACCESS_... */
CUresult cuda_range_allow(struct cuda_range *r, CUdevice dev, int access);

/** cuda_range_end() - unmap all; it is all zero again */
void cuda_range_end(struct cuda_range *r);

#endif /* K80FS_CUDA_RANGE_H */
