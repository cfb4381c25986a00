// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot's place in the iomem tree: is it free, and the placeholders that
 * keep it so while the slot is vacant.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "room.h"

#include <linux/ioport.h>

#include "discover.h"

/* The host bridge window a claim of this range would find. */
static struct resource *find_window(struct pci_bus *root, struct bs_range r,
				    bool is_pref)
{
	struct resource *res;
	int i;

	pci_bus_for_each_resource(root, res, i) {
		if (!res || resource_type(res) != IORESOURCE_MEM)
			continue;
		if (res->flags & IORESOURCE_PREFETCH && !is_pref)
			continue;
		if (res->start <= r.start && res->end >= r.end)
			return res;
	}
	return NULL;
}

/*
 * Best effort: resource_lock is not ours to take, but PCI resources stand
 * still under the rescan lock. The placeholder's claim is the final word.
 */
static struct resource *find_conflict(struct bs_slot *slot,
				      struct resource *window, struct bs_range r)
{
	struct resource *res;

	for (res = window->child; res; res = res->sibling) {
		if (res->start <= r.end && res->end >= r.start &&
		    !bs_owns_resource(slot, res))
			return res;
	}
	return NULL;
}

static int check_ram(struct bs_range r)
{
	if (region_intersects(r.start, r.end - r.start + 1, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) == REGION_DISJOINT)
		return 0;
	pr_err("slot %#llx-%#llx lies over System RAM\n", r.start, r.end);
	return -EBUSY;
}

static int check_port(struct pci_dev *port, struct bs_range r)
{
	const struct resource *res;
	int i;

	for (i = 0; i < PCI_BRIDGE_RESOURCES; i++) {
		res = &port->resource[i];
		if (!(res->flags & IORESOURCE_MEM) ||
		    res->flags & IORESOURCE_UNSET || res->start > r.end ||
		    res->end < r.start)
			continue;
		pr_err("slot %#llx-%#llx conflicts with BAR%d %pR of port %s, which would answer there itself\n",
		       r.start, r.end, i, res, pci_name(port));
		return -EBUSY;
	}
	return 0;
}

/*
 * A port's own BAR moves with no window: its register stays as it is, and the
 * port claims those addresses instead of passing them down.
 */
static int check_ports(struct bs_slot *slot, struct bs_range r)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	int ret = 0;

	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry(br, &chain->bridges, node)
			ret = ret ?: check_port(br->dev.pdev, r);
	}
	return ret;
}

static int check_range(struct bs_slot *slot, struct bs_range r, bool is_pref)
{
	struct resource *window = find_window(slot->root_bus, r, is_pref);
	struct resource *res;

	if (!window) {
		pr_err("no host bridge window contains %#llx-%#llx; is the DSDT override loaded?\n",
		       r.start, r.end);
		return -ENXIO;
	}
	res = find_conflict(slot, window, r);
	if (res) {
		pr_err("slot %#llx-%#llx conflicts with %s %pR\n", r.start,
		       r.end, res->name ?: "?", res);
		return -EBUSY;
	}
	return check_ports(slot, r);
}

static struct pci_bus *root_bus_of(struct bs_chain *chain)
{
	return list_first_entry(&chain->bridges, struct bs_bridge, node)
		->dev.pdev->bus;
}

int bs_slot_find_room(struct bs_slot *slot)
{
	struct bs_chain *chain;
	int ret;

	/* The host bridge that has both windows; if none has, say so of one. */
	list_for_each_entry(chain, &slot->chains, node) {
		slot->root_bus = root_bus_of(chain);
		if (find_window(slot->root_bus, slot->pref, true) &&
		    find_window(slot->root_bus, slot->nonpref, false))
			break;
	}
	ret = check_ram(slot->pref);
	ret = ret ?: check_ram(slot->nonpref);
	if (!ret && bs_range_overlaps(slot->pref, slot->nonpref)) {
		pr_err("bad slot: bar1 overlaps the window of bar0 and bar3\n");
		ret = -EINVAL;
	}
	ret = ret ?: check_range(slot, slot->pref, true);
	ret = ret ?: check_range(slot, slot->nonpref, false);
	if (ret)
		return ret;

	list_for_each_entry(chain, &slot->chains, node) {
		if (root_bus_of(chain) == slot->root_bus || chain->stranger[0])
			continue;
		strscpy(chain->stranger,
			"the slot is in another host bridge's windows",
			sizeof(chain->stranger));
		bs_chain_refuse(slot, chain);
	}
	return 0;
}

/* Not BUSY: it only keeps the allocator away. */
static int hold(struct resource *window, struct resource *res, const char *name,
		struct bs_range r)
{
	*res = (struct resource){
		.name = name,
		.start = r.start,
		.end = r.end,
		.flags = IORESOURCE_MEM,
	};
	if (window && !request_resource(window, res))
		return 0;
	pr_err("cannot hold %#llx-%#llx: something else is there\n", r.start,
	       r.end);
	return -EBUSY;
}

/* A region that somebody asked for below a placeholder stays in the tree. */
static void drop(struct resource *res)
{
	if (!res->parent)
		return;
	if (res->child)
		remove_resource(res);
	else
		release_resource(res);
	res->child = NULL;
}

static int hold_range(struct bs_slot *slot, struct resource *res,
		      struct bs_range r, bool is_pref)
{
	if (res->parent)
		return 0;
	return hold(find_window(slot->root_bus, r, is_pref), res, "bar_swap", r);
}

int bs_hold_place(struct bs_slot *slot)
{
	int ret;
	int err;

	ret = hold_range(slot, &slot->hold[0], slot->pref, true);
	err = hold_range(slot, &slot->hold[1], slot->nonpref, false);
	return ret ?: err;
}

void bs_drop_place(struct bs_slot *slot)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(slot->hold); i++)
		drop(&slot->hold[i]);
}

static void hold_piece(struct bs_slot *slot, struct bs_chain *chain,
		       struct bs_range r, bool is_pref)
{
	struct resource *res = &chain->pieces[chain->n_pieces];

	/* Nothing lies between two ranges that touch. */
	if (r.start > r.end)
		return;
	if (!hold(find_window(slot->root_bus, r, is_pref), res, "bar_swap (kept)",
		  r))
		chain->n_pieces++;
}

/* The parts of a range that lie outside both ranges of the slot. */
static void hold_outside(struct bs_slot *slot, struct bs_chain *chain,
			 struct bs_range r, bool is_pref)
{
	struct bs_range low = slot->nonpref;
	struct bs_range high = slot->pref;

	if (low.start > high.start)
		swap(low, high);
	if (r.start < low.start)
		hold_piece(slot, chain,
			   (struct bs_range){ r.start, min(r.end, low.start - 1) },
			   is_pref);
	if (r.end > low.end && r.start < high.start)
		hold_piece(slot, chain,
			   (struct bs_range){ max(r.start, low.end + 1),
					      min(r.end, high.start - 1) },
			   is_pref);
	if (r.end > high.end)
		hold_piece(slot, chain,
			   (struct bs_range){ max(r.start, high.end + 1), r.end },
			   is_pref);
}

void bs_hold_chains(struct bs_slot *slot)
{
	static const int windows[] = { PCI_BRIDGE_MEM_WINDOW,
				       PCI_BRIDGE_PREF_MEM_WINDOW };
	struct bs_chain *chain;
	struct bs_dev *root;
	int i;

	list_for_each_entry(chain, &slot->chains, node) {
		root = &list_first_entry(&chain->bridges, struct bs_bridge, node)
				->dev;
		chain->n_pieces = 0;
		for (i = 0; root->is_kept && i < ARRAY_SIZE(windows); i++) {
			const struct bs_res *was = &root->res[windows[i]];

			if (was->was_claimed)
				hold_outside(slot, chain,
					     (struct bs_range){ was->start,
								was->end },
					     was->flags & IORESOURCE_PREFETCH);
		}
	}
}

void bs_drop_chains(struct bs_slot *slot)
{
	struct bs_chain *chain;

	list_for_each_entry(chain, &slot->chains, node) {
		while (chain->n_pieces)
			drop(&chain->pieces[--chain->n_pieces]);
	}
}
