// SPDX-License-Identifier: GPL-2.0-only
/*
 * How we found everything, and how it gets back there.
 */
#include "restore.h"

#include <linux/ioport.h>
#include <linux/pm_runtime.h>

#include "cfg.h"
#include "die.h"
#include "discover.h"
#include "info.h"

static void snapshot(struct bs_dev *dev)
{
	int i;

	for (i = 0; i < BS_CFG_DWORDS; i++)
		dev->cfg[i] = bs_cfg_read(dev, 4 * i);
	dev->has_cfg = dev->cfg[0] != ~0u;
	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		struct resource *res = &dev->pdev->resource[i];

		dev->res[i] = (struct bs_res){
			.start = res->start,
			.end = res->end,
			.flags = res->flags,
			.was_claimed = res->parent,
		};
	}
}

/*
 * Runtime PM would write saved BARs back when it resumes a device, and D3cold
 * loses VRAM: both stay off from load to unload. The count is raised even if
 * the resume fails, so that one put always pairs with it.
 */
void bs_hold_power(struct bs_dev *dev)
{
	pm_runtime_get_sync(&dev->pdev->dev);
	dev->had_d3cold = !dev->pdev->no_d3cold;
	if (dev->had_d3cold)
		pci_d3cold_disable(dev->pdev);
}

static void keep(struct bs_dev *dev)
{
	bs_hold_power(dev);
	snapshot(dev);
	dev->is_kept = true;
}

static void unkeep(struct bs_dev *dev)
{
	if (!dev->is_kept)
		return;
	dev->is_kept = false;
	if (dev->is_gone)
		return;
	if (dev->had_d3cold)
		pci_d3cold_enable(dev->pdev);
	pm_runtime_put(&dev->pdev->dev);
}

void bs_keep_all(struct bs_slot *slot)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	u32 i;

	list_for_each_entry(chain, &slot->chains, node) {
		if (chain->stranger[0])
			continue;
		list_for_each_entry(br, &chain->bridges, node) {
			if (!br->dev.is_gone)
				keep(&br->dev);
		}
	}
	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (!die->chain->stranger[0] && !die->dev.is_gone)
			keep(&die->dev);
	}
}

void bs_unkeep_all(struct bs_slot *slot)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	u32 i;

	for (i = 0; i < slot->n_dies; i++)
		unkeep(&slot->die[i]->dev);
	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry_reverse(br, &chain->bridges, node)
			unkeep(&br->dev);
	}
}

/*
 * start = end = flags = 0 is what the core itself does with a BAR it could not
 * place; an unassigned resource with flags would be given an address by the
 * next rescan.
 */
static void blank(struct resource *res)
{
	res->start = 0;
	res->end = 0;
	res->flags = 0;
}

static void drop_region(struct bs_die *die, struct resource *bar)
{
	struct resource *region = bar->child;

	/* Its name may be gone already. */
	bs_die_error(
		die,
		"%s: region %#llx-%#llx of a driver dropped: it left while the die was out",
		die->info.bdf, (u64)region->start, (u64)region->end);
	if (region->flags & IORESOURCE_BUSY)
		__release_region(bar, region->start, resource_size(region));
	else
		release_resource(region);
}

void bs_drop_regions(struct bs_die *die)
{
	int i;

	lockdep_assert_held_write(&die->slot->map_lock);
	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		struct resource *res = &die->dev.pdev->resource[i];

		if (!bs_die_moves(die, i) || res->parent || !res->child)
			continue;
		while (res->child)
			drop_region(die, res);
		blank(res);
	}
}

/*
 * Regions of a bound driver stay below their BAR and leave the tree with it.
 * Without flags the allocator passes it by; start and end tell the claim that
 * brings it back where they were.
 */
void bs_blank_die(struct bs_die *die)
{
	int i;

	if (!die->dev.is_kept || die->dev.is_gone)
		return;
	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		struct resource *res = &die->dev.pdev->resource[i];

		if (!bs_die_moves(die, i))
			continue;
		if (res->parent)
			release_resource(res);
		if (res->child)
			res->flags = 0;
		else
			blank(res);
	}
}

void bs_blank_bridge(struct bs_bridge *br)
{
	int i;

	if (!br->dev.is_kept || br->dev.is_gone)
		return;
	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		struct resource *res = &br->dev.pdev->resource[i];

		if (!bs_bridge_moves(br, i))
			continue;
		if (res->parent && res->child) {
			/* Not ours: it stays in the tree, one level up. */
			pci_err(br->dev.pdev, "%pR still holds %s %pR\n", res,
				res->child->name ?: "?", res->child);
			remove_resource(res);
			/* They have another parent now. */
			res->child = NULL;
		} else if (res->parent) {
			release_resource(res);
		}
		blank(res);
	}
}

void bs_blank_all(struct bs_slot *slot)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	u32 i;

	for (i = 0; i < slot->n_dies; i++)
		bs_blank_die(slot->die[i]);
	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry_reverse(br, &chain->bridges, node)
			bs_blank_bridge(br);
	}
}

static void unblank(struct bs_dev *dev, int i)
{
	struct resource *res = &dev->pdev->resource[i];
	const struct bs_res *was = &dev->res[i];

	/* Of a driver that was bound while we unload: it has no place here. */
	if (res->child)
		pci_err(dev->pdev, "lost region %pR\n", res->child);
	res->child = NULL;
	dev->lost &= ~BIT(i);
	res->start = was->start;
	res->end = was->end;
	res->flags = was->flags;
	if (!was->was_claimed || !pci_claim_resource(dev->pdev, i))
		return;
	res->flags = was->flags;
	pci_err(dev->pdev, "%pR is taken by others: left closed\n", res);
	blank(res);
	dev->lost |= BIT(i);
}

/* Bridges are listed top-down, so each window finds its parent claimed. */
void bs_unblank_all(struct bs_slot *slot)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	int i;
	u32 k;

	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry(br, &chain->bridges, node) {
			if (!br->dev.is_kept || br->dev.is_gone)
				continue;
			for (i = PCI_NUM_RESOURCES - 1; i >= 0; i--) {
				if (bs_bridge_moves(br, i))
					unblank(&br->dev, i);
			}
		}
	}
	for (k = 0; k < slot->n_dies; k++) {
		struct bs_die *die = slot->die[k];

		if (!die->dev.is_kept || die->dev.is_gone)
			continue;
		for (i = 0; i < PCI_NUM_RESOURCES; i++) {
			if (bs_die_moves(die, i))
				unblank(&die->dev, i);
		}
	}
}

static bool is_restorable(const struct bs_dev *dev)
{
	return dev->is_kept && !dev->is_gone && dev->has_cfg;
}

/* A window that lies open over what somebody else may have by now. */
static bool stays_closed(const struct bs_dev *dev, int window,
			 struct bs_range was)
{
	if (dev->lost & BIT(window))
		return true;
	return !dev->res[window].was_claimed && was.start <= was.end;
}

static void restore_bridge(const struct bs_cfg *c, struct bs_bridge *br)
{
	const struct bs_window closed = BS_WINDOW_CLOSED;
	const u32 *cfg = br->dev.cfg;
	struct bs_window w = {
		.mem = cfg[PCI_MEMORY_BASE / 4],
		.pref = cfg[PCI_PREF_MEMORY_BASE / 4],
		.base_hi = cfg[PCI_PREF_BASE_UPPER32 / 4],
		.limit_hi = cfg[PCI_PREF_LIMIT_UPPER32 / 4],
	};
	struct bs_range mem, pref;

	bs_window_decode(&w, &mem, &pref);
	w.pref &= ~BS_WINDOW_TYPE;
	if (stays_closed(&br->dev, PCI_BRIDGE_MEM_WINDOW, mem))
		w.mem = closed.mem;
	if (stays_closed(&br->dev, PCI_BRIDGE_PREF_MEM_WINDOW, pref)) {
		w.pref = closed.pref;
		w.base_hi = closed.base_hi;
		w.limit_hi = closed.limit_hi;
	}
	bs_cfg_window(c, br, &w);
}

void bs_restore_all(struct bs_slot *slot)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		const struct bs_cfg c = { .die = slot->die[i] };

		if (is_restorable(&c.die->dev))
			bs_die_decode_off(&c);
	}
	bs_unblank_all(slot);
	for (i = 0; i < slot->n_dies; i++) {
		const struct bs_cfg c = { .die = slot->die[i] };

		if (is_restorable(&c.die->dev))
			bs_cfg_restore_die(&c);
	}
	list_for_each_entry(chain, &slot->chains, node) {
		/* Any die of the chain may report for its bridges. */
		struct bs_cfg c = {};

		for (i = 0; i < slot->n_dies && !c.die; i++) {
			if (slot->die[i]->chain == chain)
				c.die = slot->die[i];
		}
		list_for_each_entry(br, &chain->bridges, node) {
			if (!is_restorable(&br->dev))
				continue;
			bs_cfg_port_back(&c, br);
			restore_bridge(&c, br);
		}
	}
	for (i = 0; i < slot->n_dies; i++) {
		const struct bs_cfg c = { .die = slot->die[i] };

		if (is_restorable(&c.die->dev))
			bs_cfg_restore_command(&c);
	}
}
