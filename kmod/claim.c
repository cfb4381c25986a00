// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claims of the slot in the iomem tree: the active chain's structs. No
 * register is touched here.
 */
#include "claim.h"

#include <linux/ioport.h>

#include "die.h"
#include "info.h"
#include "restore.h"
#include "room.h"

static int claim(struct bs_die *die, struct bs_dev *dev, int i, u64 start,
		 u64 size, unsigned long flags)
{
	struct resource *res = &dev->pdev->resource[i];

	res->start = start;
	res->end = start + size - 1;
	res->flags = flags;
	if (!pci_claim_resource(dev->pdev, i))
		return 0;
	bs_die_error(die, "%s: %#llx-%#llx: cannot claim it, something else is there",
		     pci_name(dev->pdev), start, start + size - 1);
	return -EIO;
}

static int claim_bridge(struct bs_die *die, struct bs_bridge *br)
{
	struct bs_slot *slot = die->slot;
	u32 type = br->dev.cfg[PCI_PREF_MEMORY_BASE / 4] & BS_WINDOW_TYPE;
	unsigned long flags = type | IORESOURCE_MEM | IORESOURCE_PREFETCH;
	int ret;

	if (type == BS_WINDOW_64BIT)
		flags |= IORESOURCE_MEM_64;
	ret = claim(die, &br->dev, PCI_BRIDGE_MEM_WINDOW, slot->nonpref.start,
		    slot->nonpref.end - slot->nonpref.start + 1, IORESOURCE_MEM);
	if (ret)
		return ret;
	return claim(die, &br->dev, PCI_BRIDGE_PREF_MEM_WINDOW, slot->pref.start,
		     slot->pref.end - slot->pref.start + 1, flags);
}

int bs_claim_all(struct bs_die *die)
{
	unsigned int k;
	int ret;
	int i;

	for (k = 0; k < die->n_path; k++) {
		ret = claim_bridge(die, die->path[k]);
		if (ret)
			return ret;
	}
	for (i = 0; i < BS_SLOT_BARS; i++) {
		int bar = bs_slot_bars[i];
		unsigned long flags = die->bar_type[bar] | IORESOURCE_MEM |
				      IORESOURCE_SIZEALIGN;

		if (!die->bar_size[bar])
			continue;
		if (flags & PCI_BASE_ADDRESS_MEM_PREFETCH)
			flags |= IORESOURCE_PREFETCH;
		if ((flags & BS_BAR_TYPE) == BS_BAR_64BIT)
			flags |= IORESOURCE_MEM_64;
		ret = claim(die, &die->dev, bar, bs_slot_bar_addr(die->slot, bar),
			    die->bar_size[bar], flags);
		if (ret)
			return ret;
	}
	return 0;
}

void bs_unclaim_all(struct bs_die *die)
{
	unsigned int k;

	bs_blank_die(die);
	for (k = die->n_path; k > 0; k--)
		bs_blank_bridge(die->path[k - 1]);
	bs_hold_place(die->slot);
}
