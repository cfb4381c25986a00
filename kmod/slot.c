// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot: one die in it, or none.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "slot.h"

#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "chain.h"
#include "hw.h"
#include "info.h"
#include "regs.h"
#include "restore.h"
#include "room.h"
#include "turn.h"

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

struct bs_die *bs_slot_die(struct bs_slot *slot, u32 id)
{
	if (id >= slot->n_dies)
		return NULL;
	return slot->die[array_index_nospec(id, slot->n_dies)];
}

u32 bs_slot_all(struct bs_slot *slot)
{
	u32 all = 0;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];

		if (die->dev.is_kept || !die->chain->stranger[0])
			all |= BIT(i);
	}
	return all;
}

void bs_slot_revoke_locked(struct bs_slot *slot)
{
	lockdep_assert_held_write(&slot->map_lock);
	if (slot->active)
		unmap_mapping_range(slot->inode->i_mapping,
				    (loff_t)slot->active->id << BS_MMAP_DIE_SHIFT,
				    bs_mapped_len(slot), 1);
}

/* Programming starts here: no page table may outlive the die. */
void bs_slot_lock_map(struct bs_slot *slot)
{
	WRITE_ONCE(slot->is_swapping, true);
	bs_info_shown(slot, NULL);
	down_write(&slot->map_lock);
	bs_slot_revoke_locked(slot);
}

void bs_slot_unlock_map(struct bs_slot *slot)
{
	bs_info_shown(slot, slot->active);
	WRITE_ONCE(slot->is_swapping, false);
	up_write(&slot->map_lock);
}

void bs_slot_take_out_locked(struct bs_slot *slot)
{
	struct bs_die *die = slot->active;

	lockdep_assert_held_write(&slot->map_lock);
	if (!die)
		return;
	/* What was written before the zap reaches the die before it leaves. */
	wmb();
	if (!die->dev.is_gone)
		bs_regs_answer(slot);
	/* What did not read back is reported; a stuck port is tried again. */
	bs_chain_disable(die, false);
	bs_info_swapped(die, false);
}

void bs_slot_tell(struct bs_slot *slot, struct bs_die *out, struct bs_die *in)
{
	if (!slot->is_verbose)
		return;
	if (out && in)
		pr_info("die %u out, die %u in\n", out->id, in->id);
	else if (out)
		pr_info("die %u out\n", out->id);
	else if (in)
		pr_info("die %u in\n", in->id);
}

/* Is it a driver that keeps @die where it is? @wanted gets the reason. */
bool bs_slot_has_driver(struct bs_die *die, struct bs_die *wanted)
{
	if (!die || die->dev.is_gone || !die->has_driver)
		return false;
	bs_die_error(wanted, "%s: driver %s is bound", die->info.bdf,
		     die->info.driver);
	return true;
}

/* @is_forced: although a driver is bound */
static int vacate(struct bs_slot *slot, unsigned int how, bool is_forced)
{
	struct bs_die *die = slot->active;
	int ret;

	lockdep_assert_held(&slot->lock);
	if (!die)
		return 0;
	ret = bs_hw_lock(slot, BIT(die->id), how);
	if (ret)
		return ret;
	if (!is_forced && bs_slot_has_driver(die, die)) {
		ret = -EBUSY;
		goto out_unlock;
	}
	bs_slot_lock_map(slot);
	bs_slot_take_out_locked(slot);
	bs_slot_tell(slot, die, NULL);
	bs_slot_unlock_map(slot);
	bs_lease_prune(slot);
out_unlock:
	bs_hw_unlock(slot, BIT(die->id));
	return ret;
}

int bs_slot_vacate(struct bs_slot *slot, unsigned int how)
{
	return vacate(slot, how, false);
}

int bs_slot_release(struct bs_client *client, const struct bs_release_req *req,
		    bool nowait)
{
	unsigned int how = BS_HW_SIGNALS | (nowait ? BS_HW_NOWAIT : 0);
	struct bs_slot *slot = client->slot;
	struct bs_die *die = bs_slot_die(slot, req->die_id);
	bool is_forced;
	int ret;

	if (req->flags & ~BS_RELEASE_FORCE)
		return -EINVAL;
	if (!die || READ_ONCE(die->dev.is_gone))
		return -ENODEV;
	/* Whom FORCE changes nothing for needs no right to it. */
	is_forced = req->flags & BS_RELEASE_FORCE && READ_ONCE(die->has_driver);
	if (is_forced && !capable(CAP_SYS_RAWIO))
		return -EPERM;
	/* Another file's lease makes it fail, not wait. */
	if (bs_lease_is_foreign(slot, client, die))
		return -EBUSY;
	ret = bs_turn_take(slot, client, false, nowait);
	if (ret)
		return ret;
	mutex_lock(&slot->lock);
	if (slot->active != die)
		ret = 0;
	else if (bs_lease_is_foreign(slot, client, die))
		ret = -EBUSY;
	else
		ret = vacate(slot, how, is_forced);
	mutex_unlock(&slot->lock);
	bs_turn_give(slot);
	return ret;
}

int bs_slot_unlease(struct bs_client *client, u32 die_id)
{
	struct bs_die *die = bs_slot_die(client->slot, die_id);

	if (!die)
		return -ENODEV;
	bs_lease_drop(client->slot, client, die);
	return 0;
}

void bs_slot_look_again(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;

	down_write(&slot->map_lock);
	if (slot->active == die && !die->dev.is_gone) {
		bs_slot_revoke_locked(slot);
		bs_regs_ask_again(die);
	}
	up_write(&slot->map_lock);
}

int bs_slot_check_die(struct bs_slot *slot, struct bs_check *check)
{
	struct bs_die *die = bs_slot_die(slot, check->die_id);
	bool has_changed = false;

	if (!die)
		return -ENODEV;
	check->in_slot = 0;
	check->alive = 0;
	memset(check->reserved, 0, sizeof(check->reserved));
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
		has_changed = check->alive && bs_regs_have_changed(die);
	}
	up_read(&slot->map_lock);
	if (check->in_slot && !check->alive)
		bs_info_alive(die, false);
	if (has_changed)
		bs_slot_look_again(die);
out:
	check->driver = READ_ONCE(die->has_driver);
	check->bar1_mode = READ_ONCE(die->info.bar1_mode);
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
	bs_slot_lock_map(slot);
	bs_slot_take_out_locked(slot);
	if (slot->n_dies)
		bs_chain_sweep(slot->die[0]);
	bs_drop_place(slot);
	bs_drop_chains(slot);
	bs_restore_all(slot);
	slot->is_restored = true;
	bs_slot_unlock_map(slot);
	bs_hw_unlock(slot, all);
	bs_lease_prune(slot);
}
