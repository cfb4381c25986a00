/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which context is current, and the one that a device's users have together. */
#include "standin.h"

#include "base/util.h"

static struct {
	pthread_mutex_t lock; /* guards all below */
	CUcontext ctx[STANDIN_MAX_DEVICES];
	unsigned int users[STANDIN_MAX_DEVICES];
} primary = { .lock = PTHREAD_MUTEX_INITIALIZER };

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	ENTER(cuCtxGetCurrent);
	*ctx = standin_current();
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	ENTER_CTX(cuCtxGetDevice, ctx);
	*dev = ctx->device;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	CUcontext before = standin_current();
	CUresult err = CUDA_SUCCESS;

	ENTER(cuDevicePrimaryCtxRetain);
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary.lock);
	if (!primary.users[dev]) {
		err = cuCtxCreate_v2(&primary.ctx[dev], 0, dev);
		/* it is made current by whoever wants it so */
		cuCtxSetCurrent(before);
	}
	if (!err) {
		primary.users[dev]++;
		*ctx = primary.ctx[dev];
	}
	pthread_mutex_unlock(&primary.lock);
	return err;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	CUresult err = CUDA_SUCCESS;

	ENTER(cuDevicePrimaryCtxRelease_v2);
	if (dev < 0 || dev >= standin_count())
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primary.lock);
	if (!primary.users[dev])
		err = CUDA_ERROR_INVALID_CONTEXT;
	else if (!--primary.users[dev])
		err = cuCtxDestroy_v2(primary.ctx[dev]);
	pthread_mutex_unlock(&primary.lock);
	return err;
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t len)
{
	CUresult err;

	ENTER(cuMemcpyDtoD_v2);
	err = cuMemcpyDtoDAsync_v2(dst, src, len, NULL);
	return err ? err : cuStreamSynchronize(NULL);
}
