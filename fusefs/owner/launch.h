/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A die's buffers and a kernel to be started: what every file of the owner
 * speaks of.
 */
#ifndef OWNER_LAUNCH_H
#define OWNER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "owner/ptx.h"

#define OWNER_MAX_DIES 16
#define OWNER_FLOATS   (1u << 20)
#define OWNER_BYTES    (OWNER_FLOATS * sizeof(float)) /* of a buffer */
#define OWNER_MAX_PTX  OWNER_BYTES /* of a module's text */

enum owner_buffer { OWNER_IN, OWNER_OUT };

/**
 * struct owner_arg - an argument of a kernel
 * @is_buffer: the address of @buffer, else @bits
 * @type:      of the number; an address is PTX_INT64
 * @bits:      in its lower bytes
 * @memory:    not 0: of owner_map(): its address, @bits further
 */
struct owner_arg {
	bool is_buffer;
	enum owner_buffer buffer;
	enum ptx_type type;
	uint64_t bits;
	uint64_t memory;
};

/**
 * struct owner_launch - a kernel, its grid in blocks, a block in threads
 * @shared_bytes: of shared memory for each block, beside what the kernel has by
 *                itself
 */
struct owner_launch {
	char kernel[PTX_NAME_LEN];
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	unsigned int n_args;
	struct owner_arg args[PTX_MAX_PARAMS];
};

#endif /* OWNER_LAUNCH_H */
