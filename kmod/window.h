/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bit encoding of BARs and bridge windows, and the rules a slot must obey.
 * Pure: also compiled in user space.
 *
 * Source: drivers/pci/setup-bus.c, pci_setup_bridge_mmio() and
 * pci_setup_bridge_mmio_pref(); drivers/pci/probe.c, pci_read_bridge_mmio().
 */
#ifndef _BS_WINDOW_H
#define _BS_WINDOW_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#include <stdbool.h>
#endif

/* Granularity of a bridge's memory window. */
#define BS_WINDOW_ALIGN (1ULL << 20)
/* Address bits of registers 0x20 and 0x24; the low nibbles are type bits. */
#define BS_WINDOW_MASK 0xfff0fff0u
/* Low nibble of register 0x24: the window decodes 64 bits. */
#define BS_WINDOW_TYPE  0x0000000fu
#define BS_WINDOW_64BIT 0x00000001u
/* Address bits of a memory BAR, its type bits, and the 64-bit type. */
#define BS_BAR_MASK  0xfffffff0u
#define BS_BAR_IO    0x00000001u
#define BS_BAR_TYPE  0x00000006u
#define BS_BAR_64BIT 0x00000004u

/**
 * struct bs_window - the four dwords of a bridge that decide what it forwards
 * @mem:      register 0x20
 * @pref:     register 0x24
 * @base_hi:  register 0x28
 * @limit_hi: register 0x2c
 */
struct bs_window {
	__u32 mem;
	__u32 pref;
	__u32 base_hi;
	__u32 limit_hi;
};

/* Both windows closed: base above limit. */
#define BS_WINDOW_CLOSED                                 \
	{                                                \
		.mem = 0x0000fff0u, .pref = 0x0000fff0u, \
		.base_hi = 0xffffffffu, .limit_hi = 0    \
	}

/* One inclusive address range. */
struct bs_range {
	__u64 start;
	__u64 end;
};

/**
 * bs_window_encode() - register values that open both windows of a bridge
 * @mem:  non-prefetchable range, below 4 GiB, BS_WINDOW_ALIGN aligned
 * @pref: prefetchable range, BS_WINDOW_ALIGN aligned
 */
static inline struct bs_window bs_window_encode(struct bs_range mem,
						struct bs_range pref)
{
	struct bs_window w = {
		.mem = ((mem.start >> 16) & 0xfff0) | (mem.end & 0xfff00000),
		.pref = ((pref.start >> 16) & 0xfff0) | (pref.end & 0xfff00000),
		.base_hi = pref.start >> 32,
		.limit_hi = pref.end >> 32,
	};

	return w;
}

/* The low word of a window register as a range of 32-bit addresses. */
static inline struct bs_range bs_window_low(__u32 reg)
{
	struct bs_range r = {
		.start = (__u64)(reg & 0xfff0) << 16,
		.end = (reg & 0xfff00000) | 0xfffff,
	};

	return r;
}

/**
 * bs_window_decode() - the ranges a bridge forwards
 * @w:    its registers
 * @mem:  out: non-prefetchable range; closed if start > end
 * @pref: out: prefetchable range; closed if start > end
 */
static inline void bs_window_decode(const struct bs_window *w,
				    struct bs_range *mem, struct bs_range *pref)
{
	*mem = bs_window_low(w->mem);
	*pref = bs_window_low(w->pref);
	if ((w->pref & BS_WINDOW_TYPE) == BS_WINDOW_64BIT) {
		pref->start |= (__u64)w->base_hi << 32;
		pref->end |= (__u64)w->limit_hi << 32;
	}
}

/**
 * bs_bar_size() - bytes of a memory BAR from what it reads after all-ones
 * @lo: low dword
 * @hi: high dword, ignored for a 32-bit BAR
 *
 * Return: a power of two; 0 for a BAR that is not there, an I/O BAR, or a
 * register that reads what no BAR can (all-ones from a dead device too).
 */
static inline __u64 bs_bar_size(__u32 lo, __u32 hi)
{
	__u64 mask = lo & BS_BAR_MASK;
	__u64 size;

	if (lo == 0xffffffff || lo & BS_BAR_IO || !(lo | hi))
		return 0;
	if ((lo & BS_BAR_TYPE) == BS_BAR_64BIT)
		mask |= (__u64)hi << 32;
	else
		mask |= 0xffffffffULL << 32;
	size = ~mask + 1;
	if (size & (size - 1))
		return 0;
	if ((lo & BS_BAR_TYPE) != BS_BAR_64BIT && !(lo & BS_BAR_MASK))
		return 0;
	return size;
}

/**
 * struct bs_slot_geom - where the slot's BARs are, CPU addresses and bytes
 *
 * Immutable once checked.
 */
struct bs_slot_geom {
	__u64 bar0;
	__u64 bar0_size;
	__u64 bar1;
	__u64 bar1_size;
	__u64 bar3;
	__u64 bar3_size; /* 0: the dies have no BAR3 */
};

/* Prefetchable window of every bridge above the die that is in: BAR1. */
static inline struct bs_range bs_slot_pref(const struct bs_slot_geom *g)
{
	struct bs_range r = { g->bar1, g->bar1 + g->bar1_size - 1 };

	return r;
}

/* Non-prefetchable window: BAR0 and BAR3 and what lies between them. */
static inline struct bs_range bs_slot_nonpref(const struct bs_slot_geom *g)
{
	struct bs_range r = { g->bar0, g->bar0 + g->bar0_size - 1 };

	if (g->bar3_size && g->bar3 < r.start)
		r.start = g->bar3;
	if (g->bar3_size && g->bar3 + g->bar3_size - 1 > r.end)
		r.end = g->bar3 + g->bar3_size - 1;
	r.start &= ~(BS_WINDOW_ALIGN - 1);
	r.end |= BS_WINDOW_ALIGN - 1;
	return r;
}

static inline bool bs_range_overlaps(struct bs_range a, struct bs_range b)
{
	return a.start <= b.end && b.start <= a.end;
}

/* A BAR is a power of two of at least 16 bytes at a multiple of itself. */
static inline bool bs_bar_is_sane(__u64 addr, __u64 size)
{
	return size >= 16 && !(size & (size - 1)) && !(addr & (size - 1)) &&
	       addr + (size - 1) >= addr;
}

/**
 * bs_slot_check() - may a slot be there at all
 * @g:     the slot
 * @limit: highest physical address of this CPU
 *
 * Return: NULL if so, else what is wrong, for the log.
 */
static inline const char *bs_slot_check(const struct bs_slot_geom *g, __u64 limit)
{
	struct bs_range bar0 = { g->bar0, g->bar0 + g->bar0_size - 1 };
	struct bs_range bar3 = { g->bar3, g->bar3 + g->bar3_size - 1 };

	if (!bs_bar_is_sane(g->bar0, g->bar0_size))
		return "bar0 is not a power of two aligned to itself";
	if (!bs_bar_is_sane(g->bar1, g->bar1_size))
		return "bar1 is not a power of two aligned to itself";
	if (g->bar1_size < BS_WINDOW_ALIGN)
		return "bar1 is smaller than a bridge window can be";
	if (g->bar3_size && !bs_bar_is_sane(g->bar3, g->bar3_size))
		return "bar3 is not a power of two aligned to itself";
	if (bs_slot_pref(g).end > limit)
		return "bar1 lies above the CPU's physical address limit";
	if (bs_slot_nonpref(g).end > 0xffffffffULL)
		return "bar0 and bar3 must lie below 4 GiB";
	if (g->bar3_size && bs_range_overlaps(bar0, bar3))
		return "bar0 and bar3 overlap";
	return NULL;
}

#endif /* _BS_WINDOW_H */
