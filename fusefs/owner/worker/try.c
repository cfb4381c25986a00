/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/try.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cuda/cuda.h"

/* The call whose result this is. */
#define CALL(what)                              \
	do {                                    \
		CUresult err_ = cuda.what;      \
		if (err_)                       \
			return no(#what, err_); \
	} while (0)

static int no(const char *call, CUresult err)
{
	printf("%.*s: %s\n", (int)strcspn(call, "("), call, cuda_name(err));
	return EXIT_FAILURE;
}

/* EXIT_FAILURE: a call failed, or there is none; it was said */
static int find_device(const char *uuid, CUdevice *dev)
{
	struct cuda_uuid found;
	char text[2 * sizeof(found) + 1];
	int n = 0;

	CALL(cuDeviceGetCount(&n));
	for (int i = 0; i < n; i++) {
		CALL(cuDeviceGet(dev, i));
		CALL(cuDeviceGetUuid_v2(&found, *dev));
		for (size_t k = 0; k < sizeof(found); k++)
			sprintf(text + 2 * k, "%02x", found.bytes[k]);
		if (!strcmp(text, uuid))
			return EXIT_SUCCESS;
	}
	printf("no device has the UUID %s\n", uuid);
	return EXIT_FAILURE;
}

static int read_word(CUdevice dev, int fd, size_t len)
{
	const struct cuda_access access = {
		{ CU_MEM_LOCATION_TYPE_DEVICE, dev },
		CU_MEM_ACCESS_READWRITE,
	};
	CUmemHandle handle;
	CUdeviceptr ptr;
	CUcontext ctx;
	uint64_t word;

	CALL(cuCtxCreate_v2(&ctx, CU_CTX_SCHED_BLOCKING_SYNC, dev));
	CALL(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
					    CU_MEM_HANDLE_TYPE_POSIX_FD));
	CALL(cuMemAddressReserve(&ptr, len, 0, 0, 0));
	CALL(cuMemMap(ptr, len, 0, handle, 0));
	CALL(cuMemSetAccess(ptr, len, &access, 1));
	CALL(cuMemcpyDtoH_v2(&word, ptr, sizeof(word)));
	printf("%016" PRIx64 "\n", word);
	return EXIT_SUCCESS;
}

int try_import(const char *fd, const char *uuid, const char *len)
{
	char why[256];
	CUdevice dev;

	if (cuda_open(why, sizeof(why))) {
		printf("%s\n", why);
		return EXIT_FAILURE;
	}
	if (!cuda_has_vmm()) {
		printf("the driver has no cuMemMap\n");
		return EXIT_FAILURE;
	}
	/* what it has goes with the process */
	return find_device(uuid, &dev)
		       ? EXIT_FAILURE
		       : read_word(dev, atoi(fd), strtoull(len, NULL, 10));
}
