/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cuda/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/util.h"

#define LIBCUDA "libcuda.so.1"

struct cuda cuda;

static const struct {
	const char *name;
	void *slot; /* a function pointer of the table */
} calls[] = {
#define CUDA_ENTRY(name, args) { #name, &cuda.name },
	CUDA_CALLS(CUDA_ENTRY)
}, optional[] = {
	CUDA_CALLS_VMM(CUDA_ENTRY)
#undef CUDA_ENTRY
};

static int open_locked(char *why, size_t len)
{
	void *lib = dlopen(LIBCUDA, RTLD_NOW | RTLD_LOCAL);
	CUresult err;

	if (!lib) {
		snprintf(why, len, "%s; install the vendor's driver", dlerror());
		return -ENOENT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		*(void **)calls[i].slot = dlsym(lib, calls[i].name);
		if (*(void **)calls[i].slot)
			continue;
		snprintf(why, len, "%s has no %s; install a newer driver",
			 LIBCUDA, calls[i].name);
		dlclose(lib);
		return -ENOSYS;
	}
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		*(void **)optional[i].slot = dlsym(lib, optional[i].name);
	err = cuda.cuInit(0);
	if (err) {
		snprintf(why, len,
			 "cuInit: %s; load nvidia and nvidia_uvm, see dmesg",
			 cuda_name(err));
		return -ENODEV;
	}
	return 0;
}

int cuda_open(char *why, size_t len)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_open; /* under lock */
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (!is_open)
		ret = open_locked(why, len);
	is_open = !ret;
	pthread_mutex_unlock(&lock);
	return ret;
}

bool cuda_has_vmm(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		if (!*(void **)optional[i].slot)
			return false;
	return true;
}

const char *cuda_name(CUresult err)
{
	static _Thread_local char number[32];
	const char *name = NULL;

	if (cuda.cuGetErrorName && !cuda.cuGetErrorName(err, &name) && name)
		return name;
	snprintf(number, sizeof(number), "CUDA error %d", err);
	return number;
}

int cuda_errno(CUresult err)
{
	switch (err) {
	case CUDA_SUCCESS:
		return 0;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return -ENOMEM;
	case CUDA_ERROR_INVALID_VALUE:
		return -EINVAL;
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_INVALID_DEVICE:
		return -ENODEV;
	case CUDA_ERROR_NOT_READY:
		return -EAGAIN;
	default:
		return -EIO;
	}
}
