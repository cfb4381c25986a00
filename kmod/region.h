/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Geometry of a die's memory. Pure: also compiled in user space.
 *
 * The size of a BAR and the size of the memory behind it differ: a BAR is a
 * power of two, memory is not. What a user may touch ends with the memory.
 */
#ifndef _BS_REGION_H
#define _BS_REGION_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

/*
 * Memory block of the firmware's ABI for a carve-out; the same number as
 * MEMBLK_SIZE of drivers/vfio/pci/nvgrace-gpu.
 */
#define BS_REGION_BLOCK (512ULL << 20)

/**
 * struct bs_region - how one die's memory is divided
 * @usemem_len: bytes for users, from offset 0
 * @usemem_bar: bytes of the BAR that shows them
 * @resmem_len: bytes of the carve-out behind them, 0 if none
 * @resmem_bar: bytes of a BAR that would show it, 0 if none
 */
struct bs_region {
	__u64 usemem_len;
	__u64 usemem_bar;
	__u64 resmem_len;
	__u64 resmem_bar;
};

/**
 * bs_pow2_ceil() - next power of two, itself included
 * @len: bytes, > 0
 *
 * Return: the power of two; 0 if it does not fit 64 bits.
 */
static inline __u64 bs_pow2_ceil(__u64 len)
{
	__u64 p = 1;

	while (p && p < len)
		p <<= 1;
	return p;
}

/**
 * bs_region_compute() - divide a memory into what users get and a carve-out
 * @memory: bytes of memory, > 0
 * @resmem: bytes wanted for the carve-out, 0 for none
 * @out:    set on success only
 *
 * Without a carve-out nothing is rounded: such memory need not be a multiple
 * of the block. With one the users' part is rounded down to the block, after
 * its BAR size is taken, and the carve-out gets the remainder.
 *
 * Return: 0; -EOVERFLOW the carve-out is larger than the memory, or a BAR
 * would not fit 64 bits; -EINVAL nothing is left for users.
 */
static inline int bs_region_compute(__u64 memory, __u64 resmem,
				    struct bs_region *out)
{
	struct bs_region r = { 0 };

	if (resmem > memory)
		return -EOVERFLOW;
	r.usemem_len = memory - resmem;
	if (!r.usemem_len)
		return -EINVAL;
	r.usemem_bar = bs_pow2_ceil(r.usemem_len);
	if (!r.usemem_bar)
		return -EOVERFLOW;

	if (resmem) {
		r.usemem_len &= ~(BS_REGION_BLOCK - 1);
		if (!r.usemem_len)
			return -EINVAL;
		r.resmem_len = memory - r.usemem_len;
		r.resmem_bar = bs_pow2_ceil(r.resmem_len);
		if (!r.resmem_bar)
			return -EOVERFLOW;
	}
	*out = r;
	return 0;
}

#endif /* _BS_REGION_H */
