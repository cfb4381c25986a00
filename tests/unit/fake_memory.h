/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of device memory for tests of those who give it away and take it. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#include "mem/share.h"

#define FAKE_MEMORY_CHUNK ((uint64_t)2 << 20)
#define FAKE_MEMORY_UUID  0xa5 /* each byte of its device's */

/**
 * struct fake_memory - its state
 * @counted:   who counts on it
 * @n_chunks:  it has: chunk i is a memfd of i + 1 bytes; its length is a byte
 *             less than that of all
 * @get_error: what the next attempts to get them give
 * @n_out:     those got that were not freed
 */
struct fake_memory {
	atomic_int counted;
	atomic_uint n_chunks;
	atomic_int get_error;
	atomic_int n_out;
};

extern struct fake_memory fake_memory;
extern struct mem_file *const fake_memory_file;
extern const struct share_source fake_memory_source;

/** fake_memory_reset() - as at first, with @n chunks */
void fake_memory_reset(unsigned int n);

#endif /* FAKE_MEMORY_H */
