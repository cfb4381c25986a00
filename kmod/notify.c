// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others do to our devices: arrival, removal, return, drivers.
 *
 * The bus notifier is called with the rescan lock (devices) or a device_lock
 * (drivers) held and takes map_lock for write and nothing above it: it marks,
 * zaps and turns decode off. The next holder of slot->lock does the rest, but
 * for an arrival: nothing of ours may be left when the allocator makes room.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "notify.h"

#include <linux/module.h>

#include "cfg.h"
#include "chain.h"
#include "die.h"
#include "discover.h"
#include "info.h"
#include "memtype.h"
#include "restore.h"
#include "slot.h"
#include "turn.h"

static struct bs_die *find_die(struct bs_slot *slot, struct pci_dev *pdev)
{
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (slot->die[i]->dev.pdev == pdev)
			return slot->die[i];
	}
	return NULL;
}

static struct bs_bridge *find_bridge(struct bs_slot *slot, struct pci_dev *pdev)
{
	struct bs_chain *chain;
	struct bs_bridge *br;

	list_for_each_entry(chain, &slot->chains, node) {
		list_for_each_entry(br, &chain->bridges, node) {
			if (br->dev.pdev == pdev)
				return br;
		}
	}
	return NULL;
}

/* A die that was removed from this place, below ports that are all still here. */
static struct bs_die *find_lost(struct bs_slot *slot, struct pci_dev *pdev)
{
	unsigned int k;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (!die->dev.is_gone || !die->dev.is_kept ||
		    strcmp(die->info.bdf, pci_name(pdev)) ||
		    die->info.vendor != pdev->vendor ||
		    die->info.device != pdev->device)
			continue;
		for (k = 0; k < die->n_path; k++) {
			if (die->path[k]->dev.is_gone)
				return NULL;
		}
		return die;
	}
	return NULL;
}

/* The die leaves the slot with all that shows it; its ports stay as they are. */
static void lose_locked(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die, .is_quiet = true };
	struct bs_slot *slot = die->slot;

	lockdep_assert_held_write(&slot->map_lock);
	if (slot->active == die) {
		bs_slot_revoke_locked(slot);
		slot->active = NULL;
		bs_info_shown(slot, NULL);
		bs_info_swapped(die, false);
	}
	if (die->dev.is_kept)
		bs_die_decode_off(&c);
	die->dev.is_gone = true;
	bs_info_alive(die, false);
	bs_die_error(die, "%s: removed", die->info.bdf);
}

/* The managed chain that a device is below, or NULL. Rescan lock held. */
static struct bs_chain *find_chain(struct bs_slot *slot, struct pci_dev *pdev)
{
	struct pci_dev *root = pdev;
	struct bs_chain *chain;
	struct bs_bridge *br;
	struct pci_dev *up;

	while ((up = pci_upstream_bridge(root)))
		root = up;
	if (root == pdev)
		return NULL;
	list_for_each_entry(chain, &slot->chains, node) {
		br = list_first_entry(&chain->bridges, struct bs_bridge, node);
		if (br->dev.pdev == root && br->dev.is_kept && !br->dev.is_gone)
			return chain;
	}
	return NULL;
}

static void block_chain(struct bs_slot *slot, struct bs_chain *chain,
			const char *why)
{
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (die->chain == chain && (why || die->is_blocked))
			bs_info_blocked(die, why);
	}
}

/*
 * Whoever arrives below a chain makes the core look for room there, which
 * closes windows and takes claims back. The die that is in leaves before that.
 */
static struct bs_die *make_way_locked(struct bs_slot *slot,
				      struct bs_chain *chain)
{
	char who[BS_STRANGER_LEN];
	struct bs_die *die = slot->active;

	lockdep_assert_held_write(&slot->map_lock);
	if (!bs_chain_find_stranger(slot, chain, NULL, who))
		return NULL;
	if (die && die->chain == chain) {
		bs_slot_revoke_locked(slot);
		bs_slot_take_out_locked(slot);
		bs_info_shown(slot, NULL);
	} else {
		die = NULL;
	}
	block_chain(slot, chain, who);
	return die;
}

/* A stranger that leaves, perhaps the last one. */
static void stranger_left(struct bs_slot *slot, struct pci_dev *pdev)
{
	struct bs_chain *chain = find_chain(slot, pdev);
	char who[BS_STRANGER_LEN];

	if (chain && !bs_chain_find_stranger(slot, chain, pdev, who))
		block_chain(slot, chain, NULL);
}

static void removed(struct bs_slot *slot, struct pci_dev *pdev)
{
	const struct bs_cfg c = { .is_quiet = true };
	struct bs_bridge *br;
	struct bs_die *die;
	int ret = 0;

	down_write(&slot->map_lock);
	die = find_die(slot, pdev);
	if (die && !die->dev.is_gone)
		lose_locked(die);
	br = find_bridge(slot, pdev);
	if (br && br->is_open)
		bs_bridge_close(&c, br, &ret);
	if (br)
		br->dev.is_gone = true;
	if (!die && !br)
		stranger_left(slot, pdev);
	up_write(&slot->map_lock);
	if (die)
		bs_lease_drop(slot, NULL, die);
}

/*
 * Comes before the allocator looks at the new device, so that blank BARs stay
 * unassigned, and before a driver can bind.
 */
static void added(struct bs_slot *slot, struct pci_dev *pdev)
{
	struct bs_chain *chain = find_chain(slot, pdev);
	struct bs_die *evicted = NULL;
	struct bs_die *die;

	down_write(&slot->map_lock);
	die = slot->is_restored ? NULL : find_lost(slot, pdev);
	if (die) {
		const struct bs_cfg c = { .die = die };

		pci_dev_put(die->dev.pdev);
		die->dev.pdev = pci_dev_get(pdev);
		die->dev.is_gone = false;
		die->has_driver = false;
		die->is_sized = false;
		/* What an unload puts back is what was found at load. */
		bs_hold_power(&die->dev);
		bs_die_decode_off(&c);
		bs_blank_die(die);
		bs_info_alive(die, true);
		pci_info(pdev, "back as die %u\n", die->id);
	}
	if (chain && !slot->is_restored)
		evicted = make_way_locked(slot, chain);
	up_write(&slot->map_lock);
	if (evicted)
		bs_lease_drop(slot, NULL, evicted);
}

static void drop_module_locked(struct bs_die *die)
{
	lockdep_assert_held_write(&die->slot->map_lock);
	if (die->holds_module)
		module_put(THIS_MODULE);
	die->holds_module = false;
}

/*
 * A driver may have switched on the decode of a die that is out: the vendor's
 * does so when it leaves. Only the die's closed port has kept it off the bus.
 */
static void silence_locked(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };

	lockdep_assert_held_write(&die->slot->map_lock);
	if (die->slot->active != die && die->dev.is_kept && !die->dev.is_gone)
		bs_die_decode_off(&c);
}

/* rmmod would take the BARs away from a live driver. */
static void bind_locked(struct bs_die *die, const char *name)
{
	struct bs_slot *slot = die->slot;

	lockdep_assert_held_write(&slot->map_lock);
	if (die->has_driver)
		return;
	die->has_driver = true;
	bs_info_marked(die, false);
	die->holds_module = try_module_get(THIS_MODULE);
	bs_info_driver(die, name);
	if (slot->active != die)
		return;
	/* Who may not map a die with a driver loses the pages here. */
	bs_slot_revoke_locked(slot);
	/* How the driver maps BAR1 is for it to say. */
	bs_memtype_free(slot);
	bs_memtype_reserve(die);
}

static void unbind_locked(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;

	lockdep_assert_held_write(&slot->map_lock);
	if (!die->has_driver)
		return;
	die->has_driver = false;
	drop_module_locked(die);
	bs_info_driver(die, "");
	if (!die->dev.is_kept)
		return;
	if (slot->active == die) {
		bs_slot_revoke_locked(slot);
		bs_chain_take_back(die);
	} else {
		silence_locked(die);
		bs_drop_regions(die);
	}
}

static void driver_event(struct bs_slot *slot, struct pci_dev *pdev,
			 unsigned long event)
{
	struct bs_die *die;

	down_write(&slot->map_lock);
	die = find_die(slot, pdev);
	if (!die || !die->dev.is_kept)
		goto out_unlock;
	switch (event) {
	case BUS_NOTIFY_BIND_DRIVER:
	case BUS_NOTIFY_BOUND_DRIVER:
		bind_locked(die, pdev->dev.driver->name);
		if (event == BUS_NOTIFY_BOUND_DRIVER)
			silence_locked(die);
		break;
	case BUS_NOTIFY_UNBIND_DRIVER:
		if (slot->active == die || die->dev.is_gone)
			break;
		bs_die_error(
			die,
			"%s: driver %s leaves while the die is out: acquire the die before a driver is unbound or unloaded",
			die->info.bdf, die->info.driver);
		break;
	case BUS_NOTIFY_UNBOUND_DRIVER:
	case BUS_NOTIFY_DRIVER_NOT_BOUND:
		unbind_locked(die);
		break;
	}
out_unlock:
	up_write(&slot->map_lock);
}

void bs_notify_found_driver(struct bs_die *die)
{
	down_write(&die->slot->map_lock);
	if (die->dev.pdev->dev.driver)
		bind_locked(die, die->dev.pdev->dev.driver->name);
	up_write(&die->slot->map_lock);
}

void bs_notify_forget_driver(struct bs_die *die)
{
	down_write(&die->slot->map_lock);
	unbind_locked(die);
	up_write(&die->slot->map_lock);
}

static int bus_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct bs_slot *slot = container_of(nb, struct bs_slot, bus_nb);
	struct pci_dev *pdev = to_pci_dev(data);

	/* Not every device is worth a lock. */
	if (!pci_is_bridge(pdev) && !pci_match_id(slot->ids, pdev) &&
	    !find_chain(slot, pdev))
		return NOTIFY_DONE;
	if (event == BUS_NOTIFY_ADD_DEVICE)
		added(slot, pdev);
	else if (event == BUS_NOTIFY_DEL_DEVICE)
		removed(slot, pdev);
	else if (!pci_is_bridge(pdev))
		driver_event(slot, pdev, event);
	return NOTIFY_OK;
}

int bs_notify_register_bus(struct bs_slot *slot)
{
	slot->bus_nb.notifier_call = bus_event;
	return bus_register_notifier(&pci_bus_type, &slot->bus_nb);
}

void bs_notify_unregister_bus(struct bs_slot *slot)
{
	bus_unregister_notifier(&pci_bus_type, &slot->bus_nb);
}
