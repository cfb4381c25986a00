// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot: one die in it, or none.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mm.h>

#include "bs.h"

#define ACQUIRE_FLAGS                                                  \
	(BS_ACQUIRE_FORCE_SBR | BS_ACQUIRE_LEASE | BS_ACQUIRE_NOWAIT | \
	 BS_ACQUIRE_FORCE | BS_ACQUIRE_DRY_RUN)

void bs_slot_init(struct bs_slot *slot)
{
	INIT_LIST_HEAD(&slot->chains);
	INIT_LIST_HEAD(&slot->waiters);
	mutex_init(&slot->lock);
	init_rwsem(&slot->map_lock);
	spin_lock_init(&slot->info_lock);
	init_waitqueue_head(&slot->poll_wq);
	slot->shown = BS_NO_DIE;
}

static struct bs_die *get_die(struct bs_slot *slot, u32 id)
{
	return id < slot->n_dies ? slot->die[id] : NULL;
}

u32 bs_slot_all(struct bs_slot *slot)
{
	u32 all = 0;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (!slot->die[i]->chain->stranger[0])
			all |= BIT(i);
	}
	return all;
}

void bs_slot_revoke_locked(struct bs_slot *slot)
{
	lockdep_assert_held_write(&slot->map_lock);
	if (slot->active)
		unmap_mapping_range(slot->inode->i_mapping,
				    (loff_t)slot->active->id
					    << BS_MMAP_DIE_SHIFT,
				    PAGE_ALIGN(slot->region.usemem_len), 1);
}

/* Programming starts here: no page table may outlive the die. */
static void lock_map_and_revoke(struct bs_slot *slot)
{
	WRITE_ONCE(slot->is_swapping, true);
	bs_info_shown(slot, NULL);
	down_write(&slot->map_lock);
	bs_slot_revoke_locked(slot);
}

static void unlock_map(struct bs_slot *slot)
{
	bs_info_shown(slot, slot->active);
	WRITE_ONCE(slot->is_swapping, false);
	up_write(&slot->map_lock);
}

static void take_out_locked(struct bs_slot *slot)
{
	struct bs_die *die = slot->active;

	lockdep_assert_held_write(&slot->map_lock);
	if (!die)
		return;
	/* What did not read back is reported; a stuck port is tried again. */
	bs_chain_disable(die, false);
	bs_info_swapped(die, false);
}

/* Is it a driver that keeps @die where it is? @wanted gets the reason. */
static bool has_driver(struct bs_die *die, struct bs_die *wanted)
{
	if (!die || die->dev.is_gone || !die->has_driver)
		return false;
	bs_die_error(wanted, "%s: driver %s is bound", die->info.bdf,
		     die->info.driver);
	return true;
}

/* Everything that must change nothing when it fails. Hardware is locked. */
static int may_swap(struct bs_die *from, struct bs_die *to, u32 flags)
{
	if (to->dev.is_gone)
		return -ENODEV;
	if (!to->is_unusable && bs_chain_has_stranger(to->slot, to->chain))
		bs_info_unusable(to, to->chain->stranger);
	if (to->is_unusable)
		return -EBUSY;
	if (flags & BS_ACQUIRE_FORCE_SBR && has_driver(to, to))
		return -EBUSY;
	if (flags & BS_ACQUIRE_FORCE)
		return 0;
	if (has_driver(from, to) || has_driver(to, to))
		return -EBUSY;
	return 0;
}

/* A driver's die is never reset; a dead one only if asked for. */
static bool is_to_reset(struct bs_die *die, u32 flags)
{
	if (flags & BS_ACQUIRE_FORCE_SBR)
		return true;
	return die->slot->does_first_sbr && die->is_fresh && !die->has_driver &&
	       bs_die_answers(die);
}

/**
 * swap_round() - one round under all locks
 * @to:    the die to put in
 * @flags: BS_ACQUIRE_*
 * @reset: in: NULL if a reset has been made already; out: it is to be made
 *         now, the slot is vacant and @to is not in yet
 */
static int swap_round(struct bs_die *to, u32 flags, bool *reset)
{
	struct bs_slot *slot = to->slot;
	struct bs_die *from = slot->active;
	u32 dies = BIT(to->id) | (from ? BIT(from->id) : 0);
	unsigned int how = BS_HW_SIGNALS;
	int ret;

	if (flags & BS_ACQUIRE_NOWAIT)
		how |= BS_HW_NOWAIT;
	ret = bs_hw_lock(slot, dies, reset ? how : 0);
	if (ret)
		return ret;
	ret = may_swap(from, to, flags);
	if (ret)
		goto out_unlock;
	if (flags & BS_ACQUIRE_DRY_RUN) {
		bs_chain_dry_run(from == to ? NULL : from, to);
		goto out_unlock;
	}

	lock_map_and_revoke(slot);
	take_out_locked(slot);
	if (reset)
		*reset = is_to_reset(to, flags);
	if (!reset || !*reset)
		ret = bs_chain_enable(to);
	if (slot->active) {
		to->is_fresh = false;
		bs_info_swapped(to, true);
	}
	unlock_map(slot);
out_unlock:
	bs_hw_unlock(slot, dies);
	return ret;
}

static int vacate(struct bs_slot *slot, unsigned int how)
{
	struct bs_die *die = slot->active;
	int ret;

	lockdep_assert_held(&slot->lock);
	if (!die)
		return 0;
	ret = bs_hw_lock(slot, BIT(die->id), how);
	if (ret)
		return ret;
	lock_map_and_revoke(slot);
	take_out_locked(slot);
	unlock_map(slot);
	bs_hw_unlock(slot, BIT(die->id));
	bs_lease_prune(slot);
	return 0;
}

int bs_slot_vacate(struct bs_slot *slot)
{
	return vacate(slot, 0);
}

static bool is_intact(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	bool intact;

	down_read(&slot->map_lock);
	intact = slot->active == die && bs_chain_is_intact(die);
	/* It did not answer when last asked: ask again. */
	if (intact && !(READ_ONCE(die->info.flags) & BS_DIE_F_ALIVE)) {
		intact = bs_regs_answer(slot);
		bs_info_alive(die, intact);
	}
	up_read(&slot->map_lock);
	return intact;
}

/* The die is in already: has anybody touched it since? */
static int reacquire(struct bs_die *die)
{
	int ret;

	if (is_intact(die))
		return 0;
	/* A reset through sysfs under way looks the same: wait for it. */
	ret = bs_hw_lock(die->slot, BIT(die->id), BS_HW_SIGNALS);
	if (ret)
		return ret;
	ret = die->dev.is_gone ? -ENODEV : is_intact(die) ? 0 : -EIO;
	if (ret == -EIO)
		bs_die_error(
			die,
			"%s: changed while in the slot: COMMAND 0x%04x BAR0 0x%08x BAR1 0x%08x%08x",
			die->info.bdf,
			bs_cfg_read(&die->dev, PCI_COMMAND) & 0xffff,
			bs_cfg_read(&die->dev, PCI_BASE_ADDRESS_0),
			bs_cfg_read(&die->dev, PCI_BASE_ADDRESS_2),
			bs_cfg_read(&die->dev, PCI_BASE_ADDRESS_1));
	if (ret == -EIO && bs_die_answers(die) && bs_die_was_reset(die))
		bs_info_lost(die);
	bs_hw_unlock(die->slot, BIT(die->id));
	if (ret)
		vacate(die->slot, 0);
	return ret;
}

/* Caller has the turn; -EINPROGRESS: no longer. */
static int acquire(struct bs_die *die, u32 flags, u64 *swap_ns)
{
	struct bs_slot *slot = die->slot;
	ktime_t start = ktime_get();
	bool reset = false;
	int ret;

	mutex_lock(&slot->lock);
	if (slot->is_restored) {
		ret = -ENODEV;
	} else if (slot->active == die && !(flags & BS_ACQUIRE_FORCE_SBR)) {
		ret = reacquire(die);
	} else {
		ret = swap_round(die, flags, &reset);
		*swap_ns = 1;
	}
	mutex_unlock(&slot->lock);

	if (!ret && reset) {
		ret = bs_reset_run(die, flags & BS_ACQUIRE_FORCE_SBR);
		if (ret)
			return ret;
		mutex_lock(&slot->lock);
		ret = slot->is_restored ? -ENODEV :
					  swap_round(die, flags, NULL);
		mutex_unlock(&slot->lock);
	}
	if (*swap_ns)
		*swap_ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	return ret;
}

static int check_acquire(struct bs_slot *slot, struct bs_die *die, u32 flags)
{
	if (flags & ~ACQUIRE_FLAGS)
		return -EINVAL;
	if (!die)
		return -ENODEV;
	if (flags & (BS_ACQUIRE_FORCE | BS_ACQUIRE_FORCE_SBR) &&
	    !capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (READ_ONCE(die->dev.is_gone))
		return -ENODEV;
	return READ_ONCE(die->is_unusable) ? -EBUSY : 0;
}

int bs_slot_acquire(struct bs_client *client, struct bs_acquire_req *req,
		    bool nowait)
{
	struct bs_slot *slot = client->slot;
	struct bs_die *die = get_die(slot, req->die_id);
	u32 flags = req->flags;
	u64 swap_ns = 0;
	int ret;

	ret = check_acquire(slot, die, flags);
	if (ret)
		return ret;
	if (nowait)
		flags |= BS_ACQUIRE_NOWAIT;
	if (slot->is_dry)
		flags |= BS_ACQUIRE_DRY_RUN;
	if (flags & BS_ACQUIRE_FORCE_SBR &&
	    bs_lease_is_foreign(slot, client, die))
		return -EBUSY;
	ret = bs_turn_take(slot, client, true, flags & BS_ACQUIRE_NOWAIT);
	if (ret)
		return ret;

	ret = acquire(die, flags, &swap_ns);
	bs_lease_prune(slot);
	if (ret == -EINPROGRESS)
		return -ERESTARTNOHAND;
	if (!ret && !(flags & BS_ACQUIRE_DRY_RUN)) {
		bs_info_acquired(die, swap_ns);
		if (flags & BS_ACQUIRE_LEASE)
			bs_lease_take(client, die);
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

int bs_slot_release(struct bs_client *client, u32 die_id, bool nowait)
{
	struct bs_slot *slot = client->slot;
	struct bs_die *die = get_die(slot, die_id);
	int ret;

	if (!die || READ_ONCE(die->dev.is_gone))
		return -ENODEV;
	/* Another file's lease makes it fail, not wait. */
	if (bs_lease_is_foreign(slot, client, die))
		return -EBUSY;
	ret = bs_turn_take(slot, client, false, nowait);
	if (ret)
		return ret;
	mutex_lock(&slot->lock);
	if (slot->active != die)
		ret = 0;
	else if (bs_lease_is_foreign(slot, client, die) || has_driver(die, die))
		ret = -EBUSY;
	else
		ret = vacate(slot,
			     BS_HW_SIGNALS | (nowait ? BS_HW_NOWAIT : 0));
	mutex_unlock(&slot->lock);
	bs_turn_give(slot);
	return ret;
}

int bs_slot_unlease(struct bs_client *client, u32 die_id)
{
	struct bs_die *die = get_die(client->slot, die_id);

	if (!die)
		return -ENODEV;
	bs_lease_drop(client->slot, client, die);
	return 0;
}

int bs_slot_check_die(struct bs_slot *slot, struct bs_check *check)
{
	struct bs_die *die = get_die(slot, check->die_id);

	if (!die)
		return -ENODEV;
	check->in_slot = 0;
	check->alive = 0;
	/* The bus notifier may have the lock, briefly; a swap is not waited for. */
	while (!down_read_trylock(&slot->map_lock)) {
		if (READ_ONCE(slot->is_swapping))
			goto out;
		usleep_range(20, 100);
	}
	if (slot->active == die && !die->dev.is_gone) {
		/* Write-combining buffers of this CPU go first. */
		wmb();
		check->in_slot = 1;
		check->alive = bs_regs_answer(slot);
	}
	up_read(&slot->map_lock);
	if (check->in_slot && !check->alive)
		bs_info_alive(die, false);
out:
	check->generation = bs_info_generation(die);
	return die->dev.is_gone ? -ENODEV : 0;
}

void bs_slot_restore(struct bs_slot *slot)
{
	u32 all = bs_slot_all(slot);

	lockdep_assert_held(&slot->lock);
	if (slot->is_restored)
		return;
	bs_hw_lock(slot, all, BS_HW_ANYWAY);
	lock_map_and_revoke(slot);
	take_out_locked(slot);
	if (slot->n_dies)
		bs_chain_sweep(slot->die[0]);
	bs_drop_place(slot);
	bs_restore_all(slot);
	slot->is_restored = true;
	unlock_map(slot);
	bs_hw_unlock(slot, all);
	bs_lease_prune(slot);
}
