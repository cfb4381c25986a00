/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether device memory can be shared: not what a driver claims, but a try.
 */
#ifndef OWNER_TRY_H
#define OWNER_TRY_H

#include <stddef.h>
#include <stdint.h>

/**
 * owner_try_import() - have another process import memory and read it
 * @fd:   of a chunk; stays the caller's
 * @len:  of the chunk
 * @uuid: of its device
 * @word: out: its first eight bytes
 * @why:  out: on failure one line, the call that failed and its error
 * @size: of @why
 *
 * Takes what a CUDA context takes to make, a tenth of a second and more; a
 * process that hangs in it is killed after two minutes.
 *
 * Return: 0; -EIO it cannot be imported; -ENOENT there is no k80-worker;
 * -ETIMEDOUT; -errno it could not be run.
 */
int owner_try_import(int fd, uint64_t len, const uint8_t uuid[16],
		     uint64_t *word, char *why, size_t size);

#endif /* OWNER_TRY_H */
