/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA side of a worker: a context, or a stream of a shared one, with two
 * buffers and two modules for each of its dies. What fails is told line by line.
 *
 * Every call that names a seat needs that die in the slot; none waits for a
 * kernel but gpu_copy(), which is called when none runs.
 */
#ifndef OWNER_WORKER_GPU_H
#define OWNER_WORKER_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "owner/wire.h"

/**
 * gpu_count() - open CUDA, once, and count its devices
 * Return: 0; -ENODEV, with the reason told; -EIO.
 */
int gpu_count(int *count);

/**
 * gpu_online() - make context, stream, buffers and the built-in kernels
 * @seat:   which die of this process
 * @bdf:    the PCI address that its device must have; NULL: any
 * @shared: its memory, which the GPU is made to reach
 * @name:   out: of the device, WIRE_TEXT_LEN bytes
 * @device: out: its number in this process
 *
 * What was there before of this seat goes first.
 *
 * Return: 0; -ENODEV; -ENOMEM; -EIO ...
 */
int gpu_online(unsigned int seat, const char *bdf, struct wire_shared *shared,
	       char *name, int *device);

/** gpu_load() - compile @len bytes of PTX; -EINVAL if that fails */
int gpu_load(unsigned int seat, const char *text, size_t len);

/** gpu_fill() - queue a copy of the whole stage to the buffer `in` */
int gpu_fill(unsigned int seat);

/** gpu_launch() - queue a kernel, and the mark behind it; @is_queued: out: 1 if
 * the kernel was, also where the mark was not */
int gpu_launch(unsigned int seat, const struct wire_request *req, int *is_queued);

/**
 * gpu_map() - put more chunks behind those of a range, or begin one
 * @fds: of each chunk; they stay the caller's
 *
 * The range is as @map says; on failure all of it is gone.
 *
 * Return: 0; -EXDEV it is on another device than the seat; -EOPNOTSUPP the
 * driver cannot; -ENOMEM; -EIO ...
 */
int gpu_map(unsigned int seat, const struct wire_map *map, const int *fds);

/** gpu_unmap() - end every range of the seat; nothing runs */
int gpu_unmap(unsigned int seat);

/** gpu_copy() - as @req says, and wait; @sync_ns: out: what the wait for what
 * was queued before took */
int gpu_copy(unsigned int seat, const struct wire_request *req,
	     uint64_t *sync_ns);

/** gpu_poll() - 0; -EAGAIN something runs */
int gpu_poll(unsigned int seat);

/** gpu_is_lost() - a kernel has spoilt a context */
bool gpu_is_lost(void);

#endif /* OWNER_WORKER_GPU_H */
