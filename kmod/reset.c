// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bus resets, in a work item: one may take 75 s for a die that never returns,
 * and its caller must be able to leave.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "reset.h"

#include <linux/delay.h>
#include <linux/jiffies.h>

#include "die.h"
#include "hw.h"
#include "info.h"
#include "slot.h"
#include "turn.h"

#define AGAIN_MS      1000 /* somebody has a lock that pci_reset_bus() tries */
#define AGAIN_STEP_MS 20

/*
 * pci_reset_bus() tells pciehp that the link will go down; a bare secondary
 * bus reset would have the die removed under us.
 */
static int reset_bus(struct bs_die *die, struct pci_dev *pdev)
{
	unsigned long end = jiffies + msecs_to_jiffies(AGAIN_MS);
	int ret;

	do {
		if (READ_ONCE(die->dev.is_gone))
			return -ENODEV;
		/* Who has the lock may be a driver that binds. */
		if (bs_slot_has_driver(die, die))
			return -EBUSY;
		pci_dbg(pdev, "bus reset\n");
		ret = pci_reset_bus(pdev);
		if (ret != -EAGAIN)
			return ret;
		msleep(AGAIN_STEP_MS);
	} while (time_before(jiffies, end));
	return ret;
}

static struct pci_dev *get_pdev(struct bs_die *die)
{
	struct pci_dev *pdev = NULL;

	down_read(&die->slot->map_lock);
	if (!die->dev.is_gone)
		pdev = pci_dev_get(die->dev.pdev);
	up_read(&die->slot->map_lock);
	return pdev;
}

/* Is there a way at all? The core's own answer to what it tries first. */
static bool can_reset(struct pci_dev *pdev)
{
	return !pci_probe_reset_slot(pdev->slot) ||
	       !pci_probe_reset_bus(pdev->bus);
}

/* Whoever asked for it must know; a first acquire goes on without. */
static int go_without(struct bs_die *die, bool counts)
{
	if (counts) {
		bs_die_error(die, "%s: its bus cannot be reset", die->info.bdf);
		return -EIO;
	}
	pr_info("die %u: its bus cannot be reset\n", die->id);
	die->is_fresh = false;
	return 0;
}

static int reset_locked(struct bs_die *die, bool counts)
{
	struct bs_slot *slot = die->slot;
	struct pci_dev *pdev = get_pdev(die);
	int ret;
	int err;

	lockdep_assert_held(&slot->lock);
	if (!pdev)
		return -ENODEV;
	if (!can_reset(pdev)) {
		pci_dev_put(pdev);
		return go_without(die, counts);
	}
	ret = reset_bus(die, pdev);
	pci_dev_put(pdev);
	if (ret == -ENODEV || ret == -EBUSY)
		return ret;
	if (ret == -EAGAIN) {
		bs_die_error(die, "%s: bus reset: locked by others for 1 s",
			     die->info.bdf);
		return -EBUSY;
	}
	bs_info_reset(die, counts);
	if (ret)
		bs_die_error(die, "%s: bus reset failed: error %d",
			     die->info.bdf, ret);

	err = bs_hw_lock(slot, BIT(die->id), 0);
	if (err)
		return err;
	if (die->dev.is_gone) {
		err = -ENODEV;
	} else if (ret) {
		bs_die_answers(die);
		err = -EIO;
	} else {
		/* The core put back what it saved: all-ones, if it was dead. */
		die->is_fresh = false;
		err = bs_die_settle(die);
	}
	bs_hw_unlock(slot, BIT(die->id));
	return err;
}

static void reset_work(struct work_struct *work)
{
	struct bs_reset *reset = container_of(work, struct bs_reset, work);
	struct bs_slot *slot = reset->die->slot;
	int ret = -ENODEV;

	mutex_lock(&slot->lock);
	if (!slot->is_restored)
		ret = reset_locked(reset->die, reset->counts);
	mutex_unlock(&slot->lock);

	spin_lock(&slot->info_lock);
	reset->ret = ret;
	reset->is_over = true;
	if (reset->is_orphan)
		bs_turn_give_locked(slot);
	else
		complete(&reset->done);
	spin_unlock(&slot->info_lock);
}

int bs_reset_init(struct bs_slot *slot)
{
	INIT_WORK(&slot->reset.work, reset_work);
	init_completion(&slot->reset.done);
	slot->wq = alloc_workqueue("bar_swap", WQ_UNBOUND, 1);
	return slot->wq ? 0 : -ENOMEM;
}

void bs_reset_exit(struct bs_slot *slot)
{
	destroy_workqueue(slot->wq);
}

int bs_reset_run(struct bs_die *die, bool counts, bool nowait)
{
	struct bs_slot *slot = die->slot;
	struct bs_reset *reset = &slot->reset;
	int ret;

	reset->die = die;
	reset->counts = counts;
	reset->is_orphan = false;
	reset->is_over = false;
	reinit_completion(&reset->done);
	queue_work(slot->wq, &reset->work);
	if (!nowait && !wait_for_completion_interruptible(&reset->done))
		return reset->ret;

	spin_lock(&slot->info_lock);
	reset->is_orphan = !reset->is_over;
	ret = reset->is_over ? reset->ret : -EINPROGRESS;
	spin_unlock(&slot->info_lock);
	return ret;
}
