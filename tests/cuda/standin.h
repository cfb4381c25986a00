/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for libcuda.so.1 that runs on the CPU, so that all of the code
 * above the driver API runs where there is no GPU. Chosen by LD_LIBRARY_PATH.
 *
 * Device memory is a sparse mapping; a device pointer is no address, so that
 * whoever follows it faults. Each stream is a thread with a queue: an
 * asynchronous copy is made later, and by another thread, as on a real one.
 *
 * Where the stand-in of the vendor's driver is loaded (tests/vm/guest/mod) the
 * devices are its nodes: cuInit opens every one that this process sees, what
 * needs a real device's registers is an ioctl, and they are closed when the
 * process ends. A node that another file is mounted over is not seen.
 *
 * STANDIN_DEVICES  how many devices (1), where there are no such nodes
 * STANDIN_VRAM     memory of each, with K, M or G (256M)
 * STANDIN_LEDGER   folder in which processes that share the devices keep account
 *                  of their memory; without it each has all of it for itself
 * STANDIN_COPY_US  what every piece of work in a stream takes at least (0)
 * STANDIN_FAIL     orders, separated by commas, see standin_enter()
 * STANDIN_ORDERS   path of a file with more of them: it is read, carried out
 *                  and removed by the next call
 * STANDIN_STRAY    path of a file of PCI addresses: what is launched on such a
 *                  device gets a bad address in place of its first pointer
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <pthread.h>
#include <stdbool.h>

#include "cuda/cuda.h"

#define STANDIN_MAX_DEVICES 32

/* Makes a device pointer of an address: nobody has the address space there. */
#define STANDIN_TAG (1ULL << 62)

#define STANDIN_OLD_BYTE 0xee /* what fresh memory holds */

/* CUresult, those that cuda.h does not need */
#define CUDA_ERROR_NOT_INITIALIZED                3
#define CUDA_ERROR_INVALID_IMAGE                  200
#define CUDA_ERROR_INVALID_CONTEXT                201
#define CUDA_ERROR_ECC                            214
#define CUDA_ERROR_OPERATING_SYSTEM               304
#define CUDA_ERROR_INVALID_HANDLE                 400
#define CUDA_ERROR_ILLEGAL_ADDRESS                700
#define CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED 712
#define CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED     713
#define CUDA_ERROR_LAUNCH_FAILED                  719
#define CUDA_ERROR_UNKNOWN                        999

/* Those that programs beside the project's own call. */
#define STANDIN_CALLS(X)                                             \
	X(cuCtxGetCurrent, (CUcontext * ctx))                        \
	X(cuDevicePrimaryCtxRetain, (CUcontext * ctx, CUdevice dev)) \
	X(cuDevicePrimaryCtxRelease_v2, (CUdevice dev))              \
	X(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t len))

/* The entry points have the prototypes of the table. */
#define STANDIN_PROTOTYPE(name, args) CUresult name args;
CUDA_CALLS(STANDIN_PROTOTYPE)
CUDA_CALLS_VMM(STANDIN_PROTOTYPE)
STANDIN_CALLS(STANDIN_PROTOTYPE)
#undef STANDIN_PROTOTYPE

enum standin_call {
#define STANDIN_ENUM(name, args) CALL_##name,
	CUDA_CALLS(STANDIN_ENUM) CUDA_CALLS_VMM(STANDIN_ENUM)
		STANDIN_CALLS(STANDIN_ENUM)
#undef STANDIN_ENUM
			STANDIN_N_CALLS
};

/**
 * struct CUctx_st - a context
 * @lock:    guards @streams and every stream's list of work
 * @work:    the null stream's thread, like any other's
 * @streams: all, the null stream too
 * @err:     under @lock: of the first work that failed: nothing of this context
 *           runs from then on, and every wait for it gives this
 */
struct CUctx_st {
	int device;
	pthread_mutex_t lock;
	struct CUstream_st *null;
	struct CUstream_st *streams;
	CUresult err;
	struct CUctx_st *next;
};

/**
 * struct standin_work - one piece of work in a stream
 * @run: done by the stream's thread, then @free if there is one
 * @is_event: @run also in a context that is lost, or its waiters would hang
 */
struct standin_work {
	struct standin_work *next;
	CUresult (*run)(struct standin_work *work);
	void (*free)(struct standin_work *work);
	bool is_event;
};

/**
 * standin_enter() - begin an entry point: count, look for orders
 * @call: which
 *
 * An order is "NAME:N:ERROR[:TIMES]": the Nth next call (1 = the next) of the
 * entry point NAME, or "*" for any, gives ERROR, a number, and so do the
 * TIMES - 1 calls after it; TIMES 0: all from then on.
 *
 * Return: CUDA_SUCCESS, or what the entry point must return.
 */
CUresult standin_enter(enum standin_call call);

/** standin_spoil() - from now on every call of the process gives @err, as after
 * a kernel's access to a bad address */
void standin_spoil(CUresult err);

#define ENTER(name)                                             \
	do {                                                    \
		CUresult entered_ = standin_enter(CALL_##name); \
		if (entered_)                                   \
			return entered_;                        \
	} while (0)

/* as ENTER, and @ctx is the calling thread's context */
#define ENTER_CTX(name, ctx)                                    \
	CUcontext ctx;                                          \
	do {                                                    \
		CUresult entered_ = standin_enter(CALL_##name); \
		if (entered_)                                   \
			return entered_;                        \
		(ctx) = standin_current();                      \
		if (!(ctx))                                     \
			return CUDA_ERROR_INVALID_CONTEXT;      \
	} while (0)

/* as ENTER_CTX, for what needs the registers of the device */
#define ENTER_TOUCH(name, ctx)                                    \
	ENTER_CTX(name, ctx);                                     \
	do {                                                      \
		CUresult touched_ = standin_touch((ctx)->device); \
		if (touched_)                                     \
			return touched_;                          \
	} while (0)

/** standin_open() - find the devices, once; open their nodes if they have any */
CUresult standin_open(void);

/** standin_count() - devices that CUDA_VISIBLE_DEVICES leaves */
int standin_count(void);

/** standin_bdf() - "0000:03:00.0" */
const char *standin_bdf(int device);

/** standin_is_on_nodes() - the devices are those of a driver */
bool standin_is_on_nodes(void);

/** standin_attach() - what the first context of a device opens and maps */
CUresult standin_attach(int device);

/** standin_touch() - a call that needs the device's registers: it must be in
 * the slot. A device that is not is lost, and so is the process. */
CUresult standin_touch(int device);

/** standin_ended() - a kernel has ended: the device's interrupt */
void standin_ended(int device);

/** standin_current() - the calling thread's context, or NULL */
CUcontext standin_current(void);

/** standin_mem() - the bytes behind device memory of @device, [@ptr, @ptr +
 * @len); NULL if that is not inside one allocation, or mapped without a hole */
void *standin_mem(int device, CUdeviceptr ptr, size_t len);

/** standin_mem_to() - the same, to be written */
void *standin_mem_to(int device, CUdeviceptr ptr, size_t len);

/** standin_mapped() - the same of what cuMemMap() mapped, for that access */
void *standin_mapped(int device, CUdeviceptr ptr, size_t len, int access);

/** standin_is_mapped() - whether it is inside of a reserved range */
bool standin_is_mapped(CUdeviceptr ptr);

/** standin_copy_begin() - until standin_copy_end() nothing is unmapped */
void standin_copy_begin(void);
void standin_copy_end(void);

/** standin_vram() - memory of each device, bytes */
size_t standin_vram(void);

/** standin_used() - how much of it is taken */
size_t standin_used(int device);

/**
 * standin_take() - @len bytes of a device, as a file that may be mapped
 * Return: a descriptor: they are taken as long as a copy of it or a mapping is
 * there; -1: there are no more.
 */
int standin_take(int device, size_t len);

/** standin_took() - this process has a copy of a descriptor that came from
 * standin_take(); standin_give() - it closes one */
void standin_took(int device, size_t len);
void standin_give(int device, size_t len, int fd);

/** standin_device_of() - of a descriptor that came from standin_take(), maybe
 * of another process; -1: of none of this process's devices */
int standin_device_of(int fd);

/** standin_dirty() - fresh memory holds some other process's data */
void standin_dirty(char *mem, size_t len);

/**
 * standin_post() - give a stream work; NULL is the null stream
 * Return: CUDA_SUCCESS; CUDA_ERROR_INVALID_HANDLE. @work is not freed then.
 */
CUresult standin_post(CUcontext ctx, CUstream stream, struct standin_work *work);

/** standin_wait() - until a stream has done all it was given, or the context is
 * lost */
CUresult standin_wait(CUcontext ctx, CUstream stream);

/** standin_wait_all() - the same for every stream of the context, or only for
 * those that the null stream waits for */
CUresult standin_wait_all(CUcontext ctx, bool with_independent);

/** standin_ctx_start(), standin_ctx_end() - the streams of a context */
CUresult standin_ctx_start(CUcontext ctx);
void standin_ctx_end(CUcontext ctx);

/** standin_size() - a number with K, M or G behind it; 0 for anything else */
size_t standin_size(const char *text);

#endif /* STANDIN_H */
