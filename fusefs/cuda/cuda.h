/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cuda/ - the CUDA driver's calls, by name, from the libcuda of the machine.
 * May use: base.
 * Must not know: what the calls are for.
 *
 * The CUDA driver API as this project uses it, through libcuda.so.1 opened at
 * run time: nothing here needs CUDA's headers or a driver to be built.
 *
 * Types and numbers are the driver's ABI, which has not changed since CUDA 4;
 * the versioned names (cuMemAlloc_v2) are those that libcuda exports and
 * cuda.h hides behind macros. Every call but those of cuda_open() wants a
 * context to be current in the calling thread (cuCtxSetCurrent).
 */
#ifndef K80FS_CUDA_H
#define K80FS_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

/* CUresult, as in the driver API's reference */
#define CUDA_SUCCESS              0
#define CUDA_ERROR_INVALID_VALUE  1
#define CUDA_ERROR_OUT_OF_MEMORY  2
#define CUDA_ERROR_NO_DEVICE      100
#define CUDA_ERROR_INVALID_DEVICE 101
#define CUDA_ERROR_INVALID_PTX    218
#define CUDA_ERROR_NOT_FOUND      500
#define CUDA_ERROR_NOT_READY      600

#define CUDA_ERROR_NOT_SUPPORTED 801

/* CUdevice_attribute: memory can be made by itself, and given away as an fd */
#define CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 102
#define CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FD_SUPPORTED      103

#define CU_MEM_ALLOCATION_TYPE_PINNED    1
#define CU_MEM_LOCATION_TYPE_DEVICE      1
#define CU_MEM_HANDLE_TYPE_POSIX_FD      1
#define CU_MEM_ACCESS_READ               1
#define CU_MEM_ACCESS_READWRITE          3
#define CU_MEM_ALLOC_GRANULARITY_MINIMUM 0

#define CU_STREAM_NON_BLOCKING     1u
#define CU_EVENT_DISABLE_TIMING    2u
#define CU_CTX_SCHED_BLOCKING_SYNC 4u

/* CUjit_option */
#define CU_JIT_ERROR_LOG_BUFFER            5
#define CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES 6

typedef uint64_t CUmemHandle; /* CUmemGenericAllocationHandle */

struct cuda_location {
	int type; /* CU_MEM_LOCATION_TYPE_DEVICE */
	int id; /* CUdevice */
};

/* CUmemAllocationProp */
struct cuda_alloc_prop {
	int type; /* CU_MEM_ALLOCATION_TYPE_PINNED */
	int handle_types; /* CU_MEM_HANDLE_TYPE_POSIX_FD */
	struct cuda_location location;
	void *win32_metadata;
	uint8_t flags[8];
};

/* CUmemAccessDesc */
struct cuda_access {
	struct cuda_location location;
	int flags; /* CU_MEM_ACCESS_... */
};

struct cuda_uuid {
	uint8_t bytes[16];
};

/* Every entry point: its exported name, then its arguments. */
#define CUDA_CALLS(X)                                                          \
	X(cuInit, (unsigned int flags))                                        \
	X(cuDriverGetVersion, (int *version))                                  \
	X(cuGetErrorName, (CUresult err, const char **name))                   \
	X(cuDeviceGetCount, (int *count))                                      \
	X(cuDeviceGet, (CUdevice * dev, int ordinal))                          \
	X(cuDeviceGetName, (char *name, int len, CUdevice dev))                \
	X(cuDeviceGetPCIBusId, (char *bdf, int len, CUdevice dev))             \
	X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice dev))                 \
	X(cuCtxCreate_v2, (CUcontext * ctx, unsigned int flags, CUdevice dev)) \
	X(cuCtxDestroy_v2, (CUcontext ctx))                                    \
	X(cuCtxSetCurrent, (CUcontext ctx))                                    \
	X(cuCtxGetDevice, (CUdevice * dev))                                    \
	X(cuCtxSynchronize, (void))                                            \
	X(cuMemGetInfo_v2, (size_t * available, size_t * total))               \
	X(cuMemAlloc_v2, (CUdeviceptr * ptr, size_t len))                      \
	X(cuMemFree_v2, (CUdeviceptr ptr))                                     \
	X(cuMemAllocHost_v2, (void **ptr, size_t len))                         \
	X(cuMemFreeHost, (void *ptr))                                          \
	X(cuMemHostRegister_v2, (void *ptr, size_t len, unsigned int flags))   \
	X(cuMemHostUnregister, (void *ptr))                                    \
	X(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t len))     \
	X(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t len))           \
	X(cuMemcpyHtoDAsync_v2,                                                \
	  (CUdeviceptr dst, const void *src, size_t len, CUstream stream))     \
	X(cuMemcpyDtoHAsync_v2,                                                \
	  (void *dst, CUdeviceptr src, size_t len, CUstream stream))           \
	X(cuMemcpyDtoDAsync_v2,                                                \
	  (CUdeviceptr dst, CUdeviceptr src, size_t len, CUstream stream))     \
	X(cuMemsetD8_v2, (CUdeviceptr dst, unsigned char byte, size_t len))    \
	X(cuMemsetD8Async,                                                     \
	  (CUdeviceptr dst, unsigned char byte, size_t len, CUstream stream))  \
	X(cuStreamCreate, (CUstream * stream, unsigned int flags))             \
	X(cuStreamDestroy_v2, (CUstream stream))                               \
	X(cuStreamSynchronize, (CUstream stream))                              \
	X(cuStreamQuery, (CUstream stream))                                    \
	X(cuEventCreate, (CUevent * event, unsigned int flags))                \
	X(cuEventDestroy_v2, (CUevent event))                                  \
	X(cuEventRecord, (CUevent event, CUstream stream))                     \
	X(cuEventSynchronize, (CUevent event))                                 \
	X(cuEventQuery, (CUevent event))                                       \
	X(cuModuleLoadDataEx,                                                  \
	  (CUmodule * module, const void *image, unsigned int n_options,       \
	   int *options, void **values))                                       \
	X(cuModuleUnload, (CUmodule module))                                   \
	X(cuModuleGetFunction,                                                 \
	  (CUfunction * fn, CUmodule module, const char *name))                \
	X(cuLaunchKernel,                                                      \
	  (CUfunction fn, unsigned int grid_x, unsigned int grid_y,            \
	   unsigned int grid_z, unsigned int block_x, unsigned int block_y,    \
	   unsigned int block_z, unsigned int shared_bytes, CUstream stream,   \
	   void **args, void **extra))

/* Those that a driver may lack: memory that is made, mapped and shared apart
 * from one another; see cuda_has_vmm(). */
#define CUDA_CALLS_VMM(X)                                                      \
	X(cuDeviceGetUuid_v2, (struct cuda_uuid * uuid, CUdevice dev))         \
	X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice dev))     \
	X(cuMemGetAllocationGranularity,                                       \
	  (size_t * unit, const struct cuda_alloc_prop *prop, int option))     \
	X(cuMemAddressReserve, (CUdeviceptr * ptr, size_t len, size_t align,   \
				CUdeviceptr wanted, unsigned long long flags)) \
	X(cuMemAddressFree, (CUdeviceptr ptr, size_t len))                     \
	X(cuMemCreate,                                                         \
	  (CUmemHandle * handle, size_t len,                                   \
	   const struct cuda_alloc_prop *prop, unsigned long long flags))      \
	X(cuMemRelease, (CUmemHandle handle))                                  \
	X(cuMemMap, (CUdeviceptr ptr, size_t len, size_t off,                  \
		     CUmemHandle handle, unsigned long long flags))            \
	X(cuMemUnmap, (CUdeviceptr ptr, size_t len))                           \
	X(cuMemSetAccess, (CUdeviceptr ptr, size_t len,                        \
			   const struct cuda_access *access, size_t n))        \
	X(cuMemExportToShareableHandle,                                        \
	  (void *fd, CUmemHandle handle, int type, unsigned long long flags))  \
	X(cuMemImportFromShareableHandle,                                      \
	  (CUmemHandle * handle, void *fd, int type))                          \
	X(cuMemcpyPeerAsync,                                                   \
	  (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,                \
	   CUcontext src_ctx, size_t len, CUstream stream))

struct cuda {
#define CUDA_MEMBER(name, args) CUresult(*name) args;
	CUDA_CALLS(CUDA_MEMBER)
	CUDA_CALLS_VMM(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* valid once cuda_open() has returned 0 */
extern struct cuda cuda;

/**
 * cuda_open() - find libcuda.so.1 and its entry points, cuInit
 * @why: out: on failure one line that names what is missing and what to do
 * @len: of @why
 *
 * Any thread, any number of times: once it has worked nothing more is done.
 * The library stays open until the process ends.
 *
 * Return: 0; -ENOENT no library; -ENOSYS it lacks an entry point; -ENODEV no
 * device, or cuInit failed.
 */
int cuda_open(char *why, size_t len);

/** cuda_has_vmm() - whether the library has every call of CUDA_CALLS_VMM; after
 * cuda_open(). What it lacks is NULL. */
bool cuda_has_vmm(void);

/** cuda_name() - "CUDA_ERROR_..." of a result; never NULL */
const char *cuda_name(CUresult err);

/**
 * cuda_errno() - a result as 0 or -errno
 * Return: 0; -ENOMEM; -EINVAL; -ENODEV; -EAGAIN not ready; else -EIO.
 */
int cuda_errno(CUresult err);

#endif /* K80FS_CUDA_H */
