// SPDX-License-Identifier: GPL-2.0-only
/*
 * One chain: claim and program top-down, disable and release bottom-up.
 */
#include "chain.h"

#include <linux/ioport.h>
#include <linux/ratelimit.h>

#include "cfg.h"
#include "claim.h"
#include "die.h"
#include "info.h"
#include "memtype.h"
#include "regs.h"
#include "restore.h"
#include "room.h"

static bool is_64bit(struct bs_die *die, int bar)
{
	return (die->bar_type[bar] & BS_BAR_TYPE) == BS_BAR_64BIT;
}

/* A BAR's place as the bus counts. */
static u64 bar_bus_addr(struct bs_die *die, int bar)
{
	struct resource place = DEFINE_RES_MEM(bs_slot_bar_addr(die->slot, bar),
					       die->bar_size[bar]);
	struct pci_bus_region region;

	pcibios_resource_to_bus(die->dev.pdev->bus, &region, &place);
	return region.start;
}

/* What the registers of a port of the active path hold. */
static struct bs_window open_window(struct bs_slot *slot, struct bs_bridge *br)
{
	struct resource room[2] = {
		DEFINE_RES_MEM(slot->nonpref.start,
			       slot->nonpref.end - slot->nonpref.start + 1),
		DEFINE_RES_MEM(slot->pref.start,
			       slot->pref.end - slot->pref.start + 1),
	};
	struct pci_bus_region mem, pref;

	pcibios_resource_to_bus(br->dev.pdev->bus, &mem, &room[0]);
	pcibios_resource_to_bus(br->dev.pdev->bus, &pref, &room[1]);
	return bs_window_encode((struct bs_range){ mem.start, mem.end },
				(struct bs_range){ pref.start, pref.end });
}

/*
 * Ports that forward nothing are switched on while their windows are closed;
 * windows top-down, then BARs, then decode: nothing answers half-way.
 */
static int program(const struct bs_cfg *c)
{
	struct bs_die *die = c->die;
	struct bs_window w;
	unsigned int k;
	int ret;
	int i;

	ret = bs_die_decode_off(c);
	for (k = 0; k < die->n_path && !ret; k++)
		ret = bs_cfg_port_on(c, die->path[k]);
	for (k = 0; k < die->n_path && !ret; k++) {
		struct bs_bridge *br = die->path[k];

		w = open_window(die->slot, br);
		if (!c->is_dry)
			br->is_open = true;
		ret = bs_cfg_window(c, br, &w);
	}
	for (i = 0; i < BS_SLOT_BARS && !ret; i++) {
		if (die->bar_size[bs_slot_bars[i]])
			ret = bs_cfg_bar(c, bs_slot_bars[i],
					 bar_bus_addr(die, bs_slot_bars[i]));
	}
	return ret ?: bs_cfg_command(c, 0, PCI_COMMAND_MEMORY);
}

static void unprogram(const struct bs_cfg *c, int *ret)
{
	struct bs_die *die = c->die;
	unsigned int k;
	int err;

	if (!die->dev.is_gone)
		*ret = bs_die_decode_off(c);
	for (k = die->n_path; k > 0; k--)
		bs_bridge_close(c, die->path[k - 1], ret);
	if (die->dev.is_gone)
		return;
	err = bs_cfg_zero_bars(c);
	*ret = *ret ?: err;
}

/* A rescan writes a window that it gives to a port that is not enabled. */
static bool has_window(const struct bs_bridge *br)
{
	const struct resource *res = br->dev.pdev->resource;

	return res[PCI_BRIDGE_MEM_WINDOW].parent ||
	       res[PCI_BRIDGE_PREF_MEM_WINDOW].parent;
}

int bs_chain_sweep(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	struct bs_slot *slot = die->slot;
	struct bs_chain *chain;
	struct bs_bridge *br;
	int ret = 0;

	lockdep_assert_held_write(&slot->map_lock);
	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry_reverse(br, &chain->bridges, node) {
			if (br->is_open || has_window(br))
				bs_bridge_close(&c, br, &ret);
		}
	}
	bs_blank_all(slot);
	bs_hold_place(slot);
	bs_memtype_free(slot);
	return ret;
}

/* Everything that can be known before the first change. */
static int get_ready(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	const char *why;
	unsigned int k;
	u32 buses;
	int ret;

	for (k = 0; k < die->n_path; k++) {
		struct bs_dev *dev = &die->path[k]->dev;

		/* A reset further up empties them; the core owns them. */
		buses = bs_cfg_read(dev, PCI_PRIMARY_BUS);
		if (!((buses ^ dev->cfg[PCI_PRIMARY_BUS / 4]) & 0xffffff))
			continue;
		bs_die_error(die, "%s: bus numbers 0x18 wanted 0x%06x got 0x%06x",
			     pci_name(dev->pdev),
			     dev->cfg[PCI_PRIMARY_BUS / 4] & 0xffffff,
			     buses & 0xffffff);
		return -EIO;
	}
	if (!bs_die_answers(die)) {
		bs_die_error(die, "%s: vendor id 0x00 wanted 0x%04x got 0xffff",
			     die->info.bdf, die->info.vendor);
		return -EIO;
	}
	if (die->is_sized)
		return 0;
	/* It was dead, or has just been adopted. */
	ret = bs_die_settle(die);
	ret = ret ?: bs_cfg_size(&c);
	if (ret)
		return ret;
	why = bs_die_misfit(die);
	if (!why)
		return 0;
	/* It may have died while it was sized: ask again next time. */
	die->is_sized = false;
	bs_info_blocked(die, why);
	return -EIO;
}

int bs_chain_enable(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	struct bs_slot *slot = die->slot;
	int ret;

	lockdep_assert_held_write(&slot->map_lock);
	ret = bs_chain_sweep(die);
	ret = ret ?: get_ready(die);
	if (ret)
		return ret;
	bs_drop_place(slot);
	ret = bs_claim_all(die);
	if (ret) {
		bs_unclaim_all(die);
		return ret;
	}
	ret = program(&c);
	if (ret)
		goto out_disable;
	if (!die->has_driver)
		bs_regs_go_physical(slot);
	bs_memtype_reserve(die);
	ret = bs_regs_probe(die);
	if (ret)
		goto out_disable;
	slot->active = die;
	return 0;

out_disable:
	bs_chain_disable(die, true);
	return ret;
}

int bs_chain_disable(struct bs_die *die, bool is_quiet)
{
	const struct bs_cfg c = { .die = die, .is_quiet = is_quiet };
	struct bs_slot *slot = die->slot;
	int ret = 0;

	lockdep_assert_held_write(&slot->map_lock);
	unprogram(&c, &ret);
	bs_unclaim_all(die);
	bs_memtype_free(slot);
	slot->active = NULL;
	return ret;
}

void bs_chain_take_back(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	struct bs_slot *slot = die->slot;
	int ret;

	lockdep_assert_held_write(&slot->map_lock);
	ret = bs_cfg_command(&c, PCI_COMMAND_MASTER, 0);
	bs_regs_go_physical(slot);
	bs_memtype_reserve(die);
	bs_regs_ask_again(die);
	/* A GPU that goes on with DMA would heed page tables that users write. */
	if (ret)
		die->is_mappable = false;
}

static bool reads_as(struct bs_dev *dev, int reg, u32 wanted, u32 mask,
		     struct bs_change *change)
{
	u32 got = bs_cfg_read(dev, reg);

	if (!((got ^ wanted) & mask))
		return true;
	*change = (struct bs_change){
		.dev = dev, .reg = reg, .wanted = wanted, .got = got
	};
	return false;
}

/* The core takes claims back when it makes room for a device that arrives. */
static bool is_claimed(struct bs_dev *dev, int i, struct bs_change *change)
{
	if (READ_ONCE(dev->pdev->resource[i].parent))
		return true;
	*change = (struct bs_change){ .dev = dev };
	return false;
}

static bool port_is_intact(struct bs_slot *slot, struct bs_bridge *br,
			   struct bs_change *change)
{
	struct bs_window w = open_window(slot, br);
	struct bs_dev *dev = &br->dev;
	u32 type = dev->cfg[PCI_PREF_MEMORY_BASE / 4] & BS_WINDOW_TYPE;

	if (!reads_as(dev, PCI_COMMAND, PCI_COMMAND_MEMORY, PCI_COMMAND_MEMORY,
		      change) ||
	    !reads_as(dev, PCI_MEMORY_BASE, w.mem, BS_WINDOW_MASK, change) ||
	    !reads_as(dev, PCI_PREF_MEMORY_BASE, w.pref, BS_WINDOW_MASK, change))
		return false;
	if (type == BS_WINDOW_64BIT &&
	    (!reads_as(dev, PCI_PREF_BASE_UPPER32, w.base_hi, ~0u, change) ||
	     !reads_as(dev, PCI_PREF_LIMIT_UPPER32, w.limit_hi, ~0u, change)))
		return false;
	return is_claimed(dev, PCI_BRIDGE_MEM_WINDOW, change) &&
	       is_claimed(dev, PCI_BRIDGE_PREF_MEM_WINDOW, change);
}

static bool die_is_intact(struct bs_die *die, struct bs_change *change)
{
	u64 bar1 = bar_bus_addr(die, 1);
	struct bs_dev *dev = &die->dev;
	int i;

	/* An all-ones COMMAND has the bit too; the BARs then tell. */
	if (!reads_as(dev, PCI_COMMAND, PCI_COMMAND_MEMORY, PCI_COMMAND_MEMORY,
		      change) ||
	    !reads_as(dev, PCI_BASE_ADDRESS_0, bar_bus_addr(die, 0),
		      BS_BAR_MASK, change) ||
	    !reads_as(dev, PCI_BASE_ADDRESS_1, lower_32_bits(bar1), BS_BAR_MASK,
		      change))
		return false;
	if (is_64bit(die, 1) && !reads_as(dev, PCI_BASE_ADDRESS_2,
					  upper_32_bits(bar1), ~0u, change))
		return false;
	for (i = 0; i < BS_SLOT_BARS; i++) {
		if (die->bar_size[bs_slot_bars[i]] &&
		    !is_claimed(dev, bs_slot_bars[i], change))
			return false;
	}
	return true;
}

bool bs_chain_is_intact(struct bs_die *die, struct bs_change *change)
{
	unsigned int k;

	for (k = 0; k < die->n_path; k++) {
		if (!port_is_intact(die->slot, die->path[k], change))
			return false;
	}
	return die_is_intact(die, change);
}

void bs_chain_dry_run(struct bs_die *from, struct bs_die *to)
{
	/* Any user of the node may ask; a run is some 25 lines. */
	static DEFINE_RATELIMIT_STATE(limit, 30 * HZ, 3);
	struct bs_cfg c = { .is_dry = true };
	int ret = 0;

	/* All lines of a run or none. */
	if (!__ratelimit(&limit))
		return;
	if (from) {
		c.die = from;
		unprogram(&c, &ret);
	}
	c.die = to;
	program(&c);
}
