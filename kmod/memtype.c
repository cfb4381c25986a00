// SPDX-License-Identifier: GPL-2.0-only
/*
 * The write-combining memtype of BAR1. Without it PTEs and ioremap silently
 * become uncached.
 */
#include "memtype.h"

#include <linux/io.h>

#include "info.h"

#ifdef CONFIG_X86
/*
 * A reservation that meets an uncached mapping inside its range succeeds and
 * becomes uncached itself; a page table then says so, nothing else does.
 */
static bool is_write_combining(u64 addr)
{
	pgprotval_t wc = pgprot_val(pgprot_writecombine(__pgprot(0)));
	pgprotval_t uc = pgprot_val(pgprot_noncached(__pgprot(0)));
	void __iomem *page = ioremap_wc(addr, PAGE_SIZE);
	unsigned int level;
	bool is_wc = false;
	pte_t *pte;

	if (!page)
		return false;
	pte = lookup_address((unsigned long)page, &level);
	/* A CPU without PAT has no write-combining: then both are the same. */
	if (pte && wc != uc)
		is_wc = (pte_val(*pte) & _PAGE_CACHE_MASK) == wc;
	iounmap(page);
	return is_wc;
}
#else
static bool is_write_combining(u64 addr)
{
	return true;
}
#endif

void bs_memtype_reserve(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	u64 start = slot->geom.bar1;
	u64 size = die->bar_size[1];
	bool is_wc;

	lockdep_assert_held_write(&slot->map_lock);
	if (die->has_driver) {
		bs_info_cache(die, BS_DIE_F_BAR1_UC);
		return;
	}
	if (!slot->wc_size && !arch_io_reserve_memtype_wc(start, size))
		slot->wc_size = size;
	is_wc = slot->wc_size && is_write_combining(start);
	bs_info_cache(die, is_wc ? BS_DIE_F_BAR1_WC : BS_DIE_F_BAR1_UC);
	if (!is_wc)
		bs_die_error(
			die,
			"%s: BAR1 is uncached, not write-combining: something maps part of %#llx-%#llx uncached (/sys/kernel/debug/x86/pat_memtype_list)",
			die->info.bdf, start, start + size - 1);
}

void bs_memtype_free(struct bs_slot *slot)
{
	lockdep_assert_held_write(&slot->map_lock);
	if (slot->wc_size)
		arch_io_free_memtype_wc(slot->geom.bar1, slot->wc_size);
	slot->wc_size = 0;
}
