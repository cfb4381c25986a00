// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks of other people's making that a swap needs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "hw.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

/* A reset through sysfs of a die that never returns holds its lock 70 s. */
#define HW_LOCK_MS  75000
#define HW_RETRY_MS 10

static bool try_cfg(struct bs_dev *dev)
{
	if (!dev->is_cfg_locked && !dev->is_gone)
		dev->is_cfg_locked = pci_cfg_access_trylock(dev->pdev);
	return dev->is_cfg_locked || dev->is_gone;
}

static bool try_die(struct bs_die *die)
{
	struct bs_dev *dev = &die->dev;
	bool all = true;
	unsigned int i;

	if (!dev->is_dev_locked && !dev->is_gone)
		dev->is_dev_locked = device_trylock(&dev->pdev->dev);
	if (!dev->is_dev_locked && !dev->is_gone)
		return false;
	all &= try_cfg(dev);
	for (i = 0; i < die->n_path; i++)
		all &= try_cfg(&die->path[i]->dev);
	return all;
}

static void drop_cfg(struct bs_dev *dev)
{
	if (dev->is_cfg_locked)
		pci_cfg_access_unlock(dev->pdev);
	dev->is_cfg_locked = false;
}

static void drop_die(struct bs_die *die)
{
	unsigned int i;

	for (i = die->n_path; i > 0; i--)
		drop_cfg(&die->path[i - 1]->dev);
	drop_cfg(&die->dev);
	if (die->dev.is_dev_locked)
		device_unlock(&die->dev.pdev->dev);
	die->dev.is_dev_locked = false;
}

static void drop_all(struct bs_slot *slot, u32 dies)
{
	u32 i;

	for (i = slot->n_dies; i > 0; i--) {
		if (dies & BIT(i - 1))
			drop_die(slot->die[i - 1]);
	}
}

static bool try_all(struct bs_slot *slot, u32 dies)
{
	bool all = true;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (dies & BIT(i))
			all &= try_die(slot->die[i]);
	}
	return all;
}

int bs_hw_lock(struct bs_slot *slot, u32 dies, unsigned int flags)
{
	unsigned long end = jiffies + msecs_to_jiffies(HW_LOCK_MS);
	bool is_late;

	lockdep_assert_held(&slot->lock);
	for (;;) {
		is_late = time_after(jiffies, end);
		pci_lock_rescan_remove();
		if (try_all(slot, dies))
			return 0;
		if (is_late && flags & BS_HW_ANYWAY) {
			pr_err("a device stayed locked for %u s; going on\n",
			       HW_LOCK_MS / 1000);
			return 0;
		}
		drop_all(slot, dies);
		pci_unlock_rescan_remove();
		if (flags & BS_HW_NOWAIT || is_late)
			return -EBUSY;
		if (!(flags & BS_HW_SIGNALS))
			msleep(HW_RETRY_MS);
		else if (msleep_interruptible(HW_RETRY_MS) ||
			 signal_pending(current))
			return -ERESTARTNOHAND;
	}
}

void bs_hw_unlock(struct bs_slot *slot, u32 dies)
{
	drop_all(slot, dies);
	pci_unlock_rescan_remove();
}
