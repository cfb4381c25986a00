// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACQUIRE: from whoever is in to the die that is asked for.
 */
#include "acquire.h"

#include <linux/capability.h>
#include <linux/ktime.h>

#include "cfg.h"
#include "chain.h"
#include "die.h"
#include "discover.h"
#include "hw.h"
#include "info.h"
#include "regs.h"
#include "reset.h"
#include "slot.h"
#include "turn.h"

#define ACQUIRE_FLAGS                                                  \
	(BS_ACQUIRE_FORCE_SBR | BS_ACQUIRE_LEASE | BS_ACQUIRE_NOWAIT | \
	 BS_ACQUIRE_FORCE | BS_ACQUIRE_DRY_RUN | BS_ACQUIRE_DRIVER_MEM)
#define RAWIO_FLAGS \
	(BS_ACQUIRE_FORCE_SBR | BS_ACQUIRE_FORCE | BS_ACQUIRE_DRIVER_MEM)

/* Everything that must change nothing when it fails. Hardware is locked. */
static int may_swap(struct bs_die *from, struct bs_die *to, u32 flags)
{
	bool is_dry = flags & BS_ACQUIRE_DRY_RUN;
	char who[BS_STRANGER_LEN];

	if (to->dev.is_gone)
		return -ENODEV;
	if (to->is_unusable)
		return -EBUSY;
	if (bs_chain_find_stranger(to->slot, to->chain, NULL, who)) {
		if (!is_dry)
			bs_info_blocked(to, who);
		return -EBUSY;
	}
	if (to->is_blocked && !is_dry)
		bs_info_blocked(to, NULL);
	if (flags & BS_ACQUIRE_FORCE_SBR && bs_slot_has_driver(to, to))
		return -EBUSY;
	if (flags & BS_ACQUIRE_FORCE)
		return 0;
	if (bs_slot_has_driver(from, to) || bs_slot_has_driver(to, to))
		return -EBUSY;
	return 0;
}

/* A driver's die is never reset; a dead one only if asked for. */
static bool is_to_reset(struct bs_die *die, u32 flags)
{
	if (flags & BS_ACQUIRE_FORCE_SBR)
		return true;
	return die->slot->first_sbr == BS_SBR_ALWAYS && die->is_fresh &&
	       !die->has_driver && bs_die_answers(die);
}

/*
 * A die that is there but does not do as told may do so after a reset, which
 * is tried once. It costs the memory's contents: a port's fault is no reason.
 */
static bool may_reset_help(struct bs_die *die, int ret)
{
	return (ret == -EREMOTEIO || ret == -ENXIO) &&
	       die->slot->first_sbr == BS_SBR_AUTO && die->is_fresh &&
	       !die->has_driver && bs_cfg_read(&die->dev, PCI_VENDOR_ID) != ~0u;
}

/* @reset: as of swap_round() */
static int put_in_locked(struct bs_die *die, bool *reset)
{
	int ret = bs_chain_enable(die);

	lockdep_assert_held_write(&die->slot->map_lock);
	if (reset && may_reset_help(die, ret)) {
		pci_info(die->dev.pdev, "die %u: trying again after a reset\n",
			 die->id);
		die->is_fresh = false;
		*reset = true;
		return 0;
	}
	if (ret == -ENXIO)
		bs_info_alive(die, false);
	if (ret)
		return ret;
	die->is_fresh = false;
	bs_info_swapped(die, true);
	return 0;
}

/**
 * swap_round() - one round under all locks
 * @to:    the die to put in
 * @flags: BS_ACQUIRE_*
 * @reset: NULL if a reset has been made already; out: it is to be made now,
 *         the slot is vacant and @to is not in yet
 */
static int swap_round(struct bs_die *to, u32 flags, bool *reset)
{
	struct bs_slot *slot = to->slot;
	struct bs_die *from = READ_ONCE(slot->active);
	u32 dies = BIT(to->id) | (from ? BIT(from->id) : 0);
	unsigned int how = BS_HW_SIGNALS;
	int ret;

	if (reset && flags & BS_ACQUIRE_NOWAIT)
		how |= BS_HW_NOWAIT;
	ret = bs_hw_lock(slot, dies, how);
	if (ret)
		return ret;
	ret = may_swap(from, to, flags);
	if (ret)
		goto out_unlock;
	if (flags & BS_ACQUIRE_DRY_RUN) {
		bs_chain_dry_run(from == to ? NULL : from, to);
		goto out_unlock;
	}

	bs_slot_lock_map(slot);
	bs_slot_take_out_locked(slot);
	if (reset)
		*reset = is_to_reset(to, flags);
	if (reset && *reset)
		ret = bs_chain_sweep(to);
	else
		ret = put_in_locked(to, reset);
	bs_slot_tell(slot, from, slot->active);
	bs_slot_unlock_map(slot);
out_unlock:
	bs_hw_unlock(slot, dies);
	return ret;
}

static bool is_intact(struct bs_die *die, struct bs_change *change)
{
	struct bs_slot *slot = die->slot;
	bool has_changed = false;
	bool intact;

	down_read(&slot->map_lock);
	intact = slot->active == die && bs_chain_is_intact(die, change);
	/* It did not answer when last asked: ask again. */
	if (intact && !(READ_ONCE(die->info.flags) & BS_DIE_F_ALIVE)) {
		intact = bs_regs_answer(slot);
		bs_info_alive(die, intact);
		if (!intact)
			bs_die_error(die, "%s: BAR0 word 0 reads 0xffffffff",
				     die->info.bdf);
	}
	if (intact)
		has_changed = bs_regs_have_changed(die);
	up_read(&slot->map_lock);
	if (!has_changed)
		return intact;
	bs_slot_look_again(die);
	return READ_ONCE(die->info.flags) & BS_DIE_F_ALIVE;
}

/* Somebody has moved it, reset it, or it has died: it cannot stay. */
static int evict(struct bs_die *die, const struct bs_change *change)
{
	if (change->dev == &die->dev && bs_die_answers(die) &&
	    bs_die_was_reset(die))
		bs_info_lost(die);
	if (change->dev && change->reg)
		bs_die_error(
			die,
			"%s: changed while in the slot: register 0x%02x wanted 0x%08x got 0x%08x",
			pci_name(change->dev->pdev), change->reg,
			change->wanted, change->got);
	else if (change->dev)
		bs_die_error(die,
			     "%s: changed while in the slot: a claim is gone",
			     pci_name(change->dev->pdev));
	bs_slot_lock_map(die->slot);
	bs_slot_take_out_locked(die->slot);
	bs_slot_tell(die->slot, die, NULL);
	bs_slot_unlock_map(die->slot);
	return -EIO;
}

/* A driver that has decode off for a moment keeps its BARs. */
static int dislodge(struct bs_die *die, u32 flags,
		    const struct bs_change *change)
{
	if (!(flags & BS_ACQUIRE_FORCE) && bs_slot_has_driver(die, die))
		return -EBUSY;
	return evict(die, change);
}

/* Without a driver nobody has made it bus master, nor BAR1 virtual. */
static bool is_ours(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	bool ours;

	down_read(&slot->map_lock);
	ours = die->has_driver || slot->active != die ||
	       !(bs_cfg_read(&die->dev, PCI_COMMAND) & PCI_COMMAND_MASTER ||
		 bs_regs_is_virtual(slot));
	up_read(&slot->map_lock);
	return ours;
}

static void take_back(struct bs_die *die)
{
	bs_slot_lock_map(die->slot);
	if (die->slot->active == die && !die->has_driver)
		bs_chain_take_back(die);
	bs_slot_unlock_map(die->slot);
}

/* The die is in already: has anybody touched it since? */
static int reacquire(struct bs_die *die, u32 flags)
{
	unsigned int how = BS_HW_SIGNALS;
	struct bs_change change = {};
	bool intact = is_intact(die, &change);
	int ret;

	if (intact && (flags & BS_ACQUIRE_DRY_RUN || is_ours(die)))
		return 0;
	if (flags & BS_ACQUIRE_DRY_RUN)
		return -EIO;
	if (flags & BS_ACQUIRE_NOWAIT)
		how |= BS_HW_NOWAIT;
	/* A reset through sysfs under way looks the same: wait for it. */
	ret = bs_hw_lock(die->slot, BIT(die->id), how);
	if (ret)
		return ret;
	if (die->dev.is_gone)
		ret = -ENODEV;
	else if (!is_intact(die, &change))
		ret = dislodge(die, flags, &change);
	else if (!is_ours(die))
		take_back(die);
	bs_hw_unlock(die->slot, BIT(die->id));
	return ret;
}

/* Take the lock of the slot unless everything has been put back already. */
static int lock_slot(struct bs_slot *slot)
{
	mutex_lock(&slot->lock);
	if (!slot->is_restored)
		return 0;
	mutex_unlock(&slot->lock);
	return -ENODEV;
}

/* A reset that was asked for is no waiting for others. */
static bool leaves_reset(u32 flags)
{
	return flags & BS_ACQUIRE_NOWAIT && !(flags & BS_ACQUIRE_FORCE_SBR);
}

/* Caller has the turn; -EINPROGRESS: no longer. */
static int acquire(struct bs_die *die, u32 flags, bool *swapped)
{
	struct bs_slot *slot = die->slot;
	bool reset = false;
	int ret;

	ret = lock_slot(slot);
	if (ret)
		return ret;
	*swapped = READ_ONCE(slot->active) != die || flags & BS_ACQUIRE_FORCE_SBR;
	ret = *swapped ? swap_round(die, flags, &reset) : reacquire(die, flags);
	mutex_unlock(&slot->lock);
	if (ret || !reset)
		return ret;

	ret = bs_reset_run(die, flags & BS_ACQUIRE_FORCE_SBR,
			   leaves_reset(flags));
	ret = ret ?: lock_slot(slot);
	if (ret)
		return ret;
	ret = swap_round(die, flags, NULL);
	mutex_unlock(&slot->lock);
	return ret;
}

static int check_acquire(struct bs_slot *slot, struct bs_die *die, u32 flags)
{
	if (flags & ~ACQUIRE_FLAGS)
		return -EINVAL;
	if (!die)
		return -ENODEV;
	if (flags & RAWIO_FLAGS && !capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (READ_ONCE(die->dev.is_gone))
		return -ENODEV;
	return READ_ONCE(die->is_unusable) ? -EBUSY : 0;
}

int bs_slot_acquire(struct bs_client *client, struct bs_acquire_req *req,
		    bool nowait)
{
	struct bs_slot *slot = client->slot;
	struct bs_die *die = bs_slot_die(slot, req->die_id);
	u32 flags = req->flags;
	bool swapped = false;
	ktime_t start;
	int ret;

	ret = check_acquire(slot, die, flags);
	if (ret)
		return ret;
	if (nowait)
		flags |= BS_ACQUIRE_NOWAIT;
	if (slot->is_dry)
		flags |= BS_ACQUIRE_DRY_RUN;
	if (flags & BS_ACQUIRE_FORCE_SBR && bs_lease_is_foreign(slot, client, die))
		return -EBUSY;
	ret = bs_turn_take(slot, client, true, flags & BS_ACQUIRE_NOWAIT);
	if (ret)
		return ret;

	start = ktime_get();
	ret = acquire(die, flags, &swapped);
	/* The turn, and with it the lease, is another's; so is a second reset. */
	if (ret == -EINPROGRESS)
		return leaves_reset(flags) ? -EBUSY : -EINTR;
	/* Which part it was that failed is told in words. */
	if (ret == -EREMOTEIO || ret == -ENXIO)
		ret = -EIO;
	bs_lease_prune(slot);
	if (!ret && !(flags & BS_ACQUIRE_DRY_RUN)) {
		bs_info_acquired(die, swapped ? ktime_get() - start : 0);
		if (flags & BS_ACQUIRE_LEASE)
			bs_lease_take(client, die);
		if (flags & BS_ACQUIRE_DRIVER_MEM)
			WRITE_ONCE(client->sees_driver_mem, true);
	}
	bs_turn_give(slot);
	if (ret)
		return ret;
	req->bar0_addr = die->info.bar0_addr;
	req->bar1_addr = die->info.bar1_addr;
	req->bar1_size = die->info.bar1_size;
	req->bar3_addr = die->info.bar3_addr;
	return 0;
}
