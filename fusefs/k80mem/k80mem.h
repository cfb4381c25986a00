/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * k80mem/ - libk80mem: the memory of a k80fs file in a CUDA program, without a
 * copy.
 * May use: cuda, base.
 * Must not know: the daemon, but for wire.h.
 *
 * A file of a folder dieN/mem is memory of a GPU. k80_map_path() puts that
 * memory into the address space of the calling program: its kernels and copies
 * work on the file's bytes, and what one program writes the others see. The
 * memory lasts as long as a file or a mapping has it, whoever else ends.
 *
 * Every function may be called from any thread, but no two at a time on one
 * mapping. The header is C and C++ and needs no header of CUDA's.
 */
#ifndef K80MEM_H
#define K80MEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel may write too. Without it one that does fails, as with any bad
 * address: a guard against accidents, not a right. */
#define K80_MAP_WRITE 1u

/** struct k80_map - a mapping */
struct k80_map;

/**
 * k80_map_fd() - map the memory of an open file
 * @fd:    open for reading and writing, whatever @flags say: CUDA cannot keep a
 *         program that has memory from writing to it
 * @flags: 0 or K80_MAP_WRITE
 * @out:   out: on success; k80_unmap() ends it
 *
 * The calling thread has a current context of the device that the file is on.
 * Holes of the file are filled with zeroes first. The mapping is as long as the
 * file is now, and keeps that memory: a file that grows, or is cut, truncated
 * or removed, does not change it. It does not need @fd any more.
 *
 * Return: 0; or, with a line in k80_error():
 *   -ENOTTY       not a file of k80fs with memory of its own
 *   -EACCES       @fd is not open for reading and writing
 *   -ENXIO        no context is current
 *   -EXDEV        that context is of another device
 *   -ENOENT, -ENODEV, -ENOSYS  no libcuda, no device, the driver is too old
 *   -ENOSPC       no memory is left for a hole
 *   -EAGAIN       too many ask at this moment
 *   -ECONNREFUSED, -EPROTO, -ETIMEDOUT  k80fs is gone, of another version,
 * hangs -EINVAL, -ENOMEM, -EMFILE, -EIO ...
 */
int k80_map_fd(int fd, unsigned int flags, struct k80_map **out);

/** k80_map_path() - the same for a path; also what open(2) gives */
int k80_map_path(const char *path, unsigned int flags, struct k80_map **out);

/**
 * k80_unmap() - end a mapping; NULL does nothing
 *
 * Nothing uses it any more: whoever started kernels or copies on it has waited
 * for them.
 */
void k80_unmap(struct k80_map *map);

/** k80_map_ptr() - its device address (a CUdeviceptr); 0: the file was empty */
uint64_t k80_map_ptr(const struct k80_map *map);

/** k80_map_len() - bytes */
size_t k80_map_len(const struct k80_map *map);

/**
 * k80_device() - on which device a file is
 * @fd:      open in any way
 * @ordinal: out: its number in this process (a CUdevice)
 *
 * No context need be current.
 *
 * Return: 0; -ENODEV this process does not see it; as k80_map_fd().
 */
int k80_device(int fd, int *ordinal);

/** k80_error() - why the last call of this thread failed, one line; "" */
const char *k80_error(void);

#ifdef __cplusplus
}
#endif

#endif /* K80MEM_H */
