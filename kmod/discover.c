// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds dies, walks their chains upward, and looks for strangers and for room.
 * Reads only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "discover.h"

#include <linux/ioport.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "info.h"

static int compare_address(const void *a, const void *b)
{
	const struct pci_dev *x = *(struct pci_dev *const *)a;
	const struct pci_dev *y = *(struct pci_dev *const *)b;
	int ret = pci_domain_nr(x->bus) - pci_domain_nr(y->bus);

	ret = ret ?: x->bus->number - y->bus->number;
	return ret ?: (int)x->devfn - (int)y->devfn;
}

static struct bs_bridge *find_bridge(struct bs_chain *chain,
				     const struct pci_dev *pdev)
{
	struct bs_bridge *br;

	list_for_each_entry(br, &chain->bridges, node) {
		if (br->dev.pdev == pdev && !br->dev.is_gone)
			return br;
	}
	return NULL;
}

static bool is_die(struct bs_slot *slot, const struct pci_dev *pdev)
{
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (slot->die[i]->dev.pdev == pdev && !slot->die[i]->dev.is_gone)
			return true;
	}
	return false;
}

/* Resource indices of a die: all BARs and the ROM, whatever their type. */
bool bs_die_moves(const struct bs_die *die, int i)
{
	return i < PCI_BRIDGE_RESOURCES;
}

/*
 * Of a bridge: the two memory windows, and its own memory BARs and ROM if they
 * lie in a window that moves. Those of the root port lie above all of them.
 */
bool bs_bridge_moves(const struct bs_bridge *br, int i)
{
	if (i == PCI_BRIDGE_MEM_WINDOW || i == PCI_BRIDGE_PREF_MEM_WINDOW)
		return true;
	return !br->is_root && i < PCI_BRIDGE_RESOURCES &&
	       !(br->dev.pdev->resource[i].flags & IORESOURCE_IO);
}

static bool is_in(const struct bs_dev *dev, const struct resource *res)
{
	return res >= dev->pdev->resource &&
	       res < dev->pdev->resource + PCI_NUM_RESOURCES;
}

bool bs_owns_resource(struct bs_slot *slot, const struct resource *res)
{
	struct bs_chain *chain;
	struct bs_bridge *br;
	u32 i;

	list_for_each_entry(chain, &slot->chains, node) {
		if (chain->stranger[0])
			continue;
		list_for_each_entry(br, &chain->bridges, node) {
			if (!br->dev.is_gone && is_in(&br->dev, res))
				return true;
		}
	}
	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (!die->dev.is_gone && !die->chain->stranger[0] &&
		    is_in(&die->dev, res))
			return true;
	}
	return false;
}

struct walk {
	struct bs_slot *slot;
	struct bs_chain *chain;
	const struct pci_dev *leaving;
	const char *what;
	struct pci_dev *who;
};

static int stop(struct walk *w, struct pci_dev *pdev, const char *what)
{
	w->what = what;
	w->who = pdev;
	return 1;
}

/* What makes one function below the root port, or the port, a stranger. */
static int look_at(struct pci_dev *pdev, void *arg)
{
	struct walk *w = arg;
	u16 ctl;
	int i;

	if (pdev == w->leaving)
		return 0;
	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		if (pdev->resource[i].flags & IORESOURCE_PCI_FIXED)
			return stop(w, pdev, "has a fixed resource");
	}
	if (!pci_is_bridge(pdev)) {
		if (!is_die(w->slot, pdev))
			return stop(w, pdev, "is not a die");
		if (!list_is_singular(&pdev->bus->devices))
			return stop(w, pdev, "shares its port");
		return 0;
	}
	if (!find_bridge(w->chain, pdev))
		return stop(w, pdev, "is a port that appeared after load");
	pci_read_config_word(pdev, PCI_BRIDGE_CONTROL, &ctl);
	if (ctl != 0xffff && ctl & PCI_BRIDGE_CTL_VGA)
		return stop(w, pdev, "forwards VGA");
	return 0;
}

bool bs_chain_find_stranger(struct bs_slot *slot, struct bs_chain *chain,
			    const struct pci_dev *leaving, char *who)
{
	struct walk w = { .slot = slot, .chain = chain, .leaving = leaving };
	struct bs_bridge *root;

	root = list_first_entry(&chain->bridges, struct bs_bridge, node);
	if (root->dev.is_gone)
		return false;
	if (!look_at(root->dev.pdev, &w) && root->dev.pdev->subordinate)
		pci_walk_bus(root->dev.pdev->subordinate, look_at, &w);
	if (!w.what)
		return false;
	snprintf(who, BS_STRANGER_LEN, "%s [%04x:%04x] below %s %s",
		 pci_name(w.who), w.who->vendor, w.who->device,
		 pci_name(root->dev.pdev), w.what);
	return true;
}

void bs_chain_refuse(struct bs_slot *slot, struct bs_chain *chain)
{
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (slot->die[i]->chain == chain)
			bs_info_unusable(slot->die[i], chain->stranger);
	}
}

/* A region that is not the chain's own below one of its resources. */
static struct resource *find_guest(struct bs_slot *slot, struct bs_dev *dev)
{
	struct resource *res;
	int i;

	for (i = 0; i < PCI_NUM_RESOURCES; i++) {
		res = dev->pdev->resource[i].child;
		if (i == PCI_BRIDGE_IO_WINDOW)
			continue;
		for (; res; res = res->sibling) {
			if (!bs_owns_resource(slot, res))
				return res;
		}
	}
	return NULL;
}

bool bs_chain_is_in_use(struct bs_slot *slot, struct bs_chain *chain)
{
	struct resource *guest = NULL;
	struct bs_bridge *br;
	u32 i;

	list_for_each_entry(br, &chain->bridges, node) {
		if (!guest && !br->dev.is_gone)
			guest = find_guest(slot, &br->dev);
	}
	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (die->chain != chain || die->dev.is_gone)
			continue;
		if (!guest)
			guest = find_guest(slot, &die->dev);
		if (!die->has_driver || !pci_is_enabled(die->dev.pdev))
			continue;
		snprintf(chain->stranger, sizeof(chain->stranger),
			 "driver %s has %s enabled", die->info.driver,
			 die->info.bdf);
		return true;
	}
	if (guest)
		snprintf(chain->stranger, sizeof(chain->stranger),
			 "%s holds %pR", guest->name ?: "?", guest);
	return guest;
}

static int add_bridge(struct bs_chain *chain, struct pci_dev *pdev)
{
	struct bs_bridge *br = kzalloc(sizeof(*br), GFP_KERNEL);

	if (!br)
		return -ENOMEM;
	br->dev.pdev = pci_dev_get(pdev);
	br->is_root = list_empty(&chain->bridges);
	list_add_tail(&br->node, &chain->bridges);
	return 0;
}

/* pci_walk_bus() shows a bridge before what is below it. */
static int collect_bridge(struct pci_dev *pdev, void *arg)
{
	struct walk *w = arg;

	if (pci_is_bridge(pdev) && add_bridge(w->chain, pdev))
		return stop(w, pdev, "no memory");
	return 0;
}

static struct bs_chain *get_chain(struct bs_slot *slot, struct pci_dev *root)
{
	struct bs_chain *chain;
	struct walk w = {};

	list_for_each_entry(chain, &slot->chains, node) {
		if (find_bridge(chain, root))
			return chain;
	}
	chain = kzalloc(sizeof(*chain), GFP_KERNEL);
	if (!chain)
		return NULL;
	INIT_LIST_HEAD(&chain->bridges);
	list_add_tail(&chain->node, &slot->chains);
	if (add_bridge(chain, root))
		return NULL;
	w.chain = chain;
	pci_walk_bus(root->subordinate, collect_bridge, &w);
	return w.what ? NULL : chain;
}

static int place_die(struct bs_slot *slot, struct bs_die *die)
{
	struct pci_dev *up[BS_MAX_DEPTH];
	struct pci_dev *pdev = die->dev.pdev;
	unsigned int n = 0;

	while ((pdev = pci_upstream_bridge(pdev))) {
		if (n == BS_MAX_DEPTH)
			return -ELOOP;
		up[n++] = pdev;
	}
	if (!n)
		return -ENOTDIR;
	die->chain = get_chain(slot, up[n - 1]);
	if (!die->chain)
		return -ENOMEM;
	for (die->n_path = 0; die->n_path < n; die->n_path++)
		die->path[die->n_path] =
			find_bridge(die->chain, up[n - 1 - die->n_path]);
	return 0;
}

static int add_die(struct bs_slot *slot, struct pci_dev *pdev)
{
	struct bs_die *die = kzalloc(sizeof(*die), GFP_KERNEL);
	int ret;

	if (!die)
		return -ENOMEM;
	die->slot = slot;
	die->id = slot->n_dies;
	die->is_fresh = true;
	die->dev.pdev = pci_dev_get(pdev);
	ret = place_die(slot, die);
	if (ret) {
		if (ret != -ENOMEM)
			pci_warn(pdev, "ignored: %s\n",
				 ret == -ELOOP ? "too many bridges above it"
					       : "no bridge above it");
		pci_dev_put(pdev);
		kfree(die);
		return ret == -ENOMEM ? ret : 0;
	}
	bs_info_init(die);
	slot->die[slot->n_dies++] = die;
	return 0;
}

/* Collects every matching function, sorted; returns how many. */
static int collect_dies(struct bs_slot *slot, struct pci_dev ***out)
{
	struct pci_dev **found = NULL;
	struct pci_dev *pdev = NULL;
	struct pci_dev **more;
	int n = 0;

	for_each_pci_dev(pdev) {
		if (!pci_match_id(slot->ids, pdev) || pci_is_bridge(pdev))
			continue;
		more = krealloc(found, (n + 1) * sizeof(*found), GFP_KERNEL);
		if (!more) {
			pci_dev_put(pdev);
			while (n)
				pci_dev_put(found[--n]);
			kfree(found);
			return -ENOMEM;
		}
		found = more;
		found[n++] = pci_dev_get(pdev);
	}
	sort(found, n, sizeof(*found), compare_address, NULL);
	*out = found;
	return n;
}

int bs_discover(struct bs_slot *slot)
{
	struct pci_dev **found = NULL;
	struct bs_chain *chain;
	int ret = 0;
	int n;
	int i;

	n = collect_dies(slot, &found);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (!ret && slot->n_dies < BS_MAX_DIES)
			ret = add_die(slot, found[i]);
		else if (!ret)
			pci_warn(found[i], "ignored: more than %u dies\n",
				 BS_MAX_DIES);
		pci_dev_put(found[i]);
	}
	kfree(found);
	if (ret)
		return ret;
	if (!slot->n_dies) {
		pr_err("no die found\n");
		return -ENODEV;
	}
	list_for_each_entry(chain, &slot->chains, node) {
		if (bs_chain_find_stranger(slot, chain, NULL, chain->stranger))
			bs_chain_refuse(slot, chain);
	}
	return 0;
}

void bs_forget(struct bs_slot *slot)
{
	struct bs_chain *chain, *next_chain;
	struct bs_bridge *br, *next;

	while (slot->n_dies) {
		struct bs_die *die = slot->die[--slot->n_dies];

		pci_dev_put(die->dev.pdev);
		kfree(die);
	}
	list_for_each_entry_safe(chain, next_chain, &slot->chains, node) {
		list_for_each_entry_safe(br, next, &chain->bridges, node) {
			pci_dev_put(br->dev.pdev);
			kfree(br);
		}
		kfree(chain);
	}
	INIT_LIST_HEAD(&slot->chains);
}
