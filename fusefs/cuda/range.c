/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cuda/range.h"

#include <stdlib.h>
#include <string.h>

static CUresult failed(struct cuda_range *r, const char *call, CUresult err)
{
	r->call = call;
	return err;
}

CUresult cuda_range_reserve(struct cuda_range *r, uint64_t bytes)
{
	CUresult err = cuda.cuMemAddressReserve(&r->ptr, bytes, 0, 0, 0);

	if (err) {
		r->ptr = 0;
		return failed(r, "cuMemAddressReserve", err);
	}
	r->bytes = bytes;
	return CUDA_SUCCESS;
}

static bool has_room(struct cuda_range *r)
{
	unsigned int room = r->room ? 2 * r->room : 64;
	uint64_t *len;

	if (r->n < r->room)
		return true;
	len = realloc(r->len, room * sizeof(*len));
	if (!len)
		return false;
	r->len = len;
	r->room = room;
	return true;
}

CUresult cuda_range_add(struct cuda_range *r, int fd, uint64_t len)
{
	CUmemHandle handle;
	CUresult err;

	if (!len || len > r->bytes - r->at)
		return failed(r, "cuMemMap", CUDA_ERROR_INVALID_VALUE);
	if (!has_room(r))
		return failed(r, "cuMemMap", CUDA_ERROR_OUT_OF_MEMORY);
	err = cuda.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
						  CU_MEM_HANDLE_TYPE_POSIX_FD);
	if (err)
		return failed(r, "cuMemImportFromShareableHandle", err);
	err = cuda.cuMemMap(r->ptr + r->at, len, 0, handle, 0);
	/* what is mapped stays without it */
	cuda.cuMemRelease(handle);
	if (err)
		return failed(r, "cuMemMap", err);
	r->len[r->n++] = len;
	r->at += len;
	return CUDA_SUCCESS;
}

CUresult cuda_range_allow(struct cuda_range *r, CUdevice dev, int access)
{
	const struct cuda_access who = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, dev },
		.flags = access,
	};
	CUresult err = cuda.cuMemSetAccess(r->ptr, r->bytes, &who, 1);

	return err ? failed(r, "cuMemSetAccess", err) : CUDA_SUCCESS;
}

void cuda_range_end(struct cuda_range *r)
{
	/* whole chunks only, as they were mapped */
	while (r->n) {
		uint64_t len = r->len[--r->n];

		r->at -= len;
		cuda.cuMemUnmap(r->ptr + r->at, len);
	}
	if (r->ptr)
		cuda.cuMemAddressFree(r->ptr, r->bytes);
	free(r->len);
	memset(r, 0, sizeof(*r));
}
