// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and reboot.
 *
 * Their notifiers run with a lock held that the probe or remove of a PCI driver
 * may wait for, and on hot-plug that runs under the rescan lock. So they take
 * no lock of a swap: a work item does what is to be done, and they wait for it
 * with a bound.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "power.h"

#include <linux/jiffies.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "info.h"
#include "slot.h"
#include "turn.h"

#define SLEEP_MS  2000
#define REBOOT_MS 10000

/* A driver's die is not to be moved under it, nor to sleep while it is out. */
static bool has_driver(struct bs_slot *slot)
{
	u32 i;

	lockdep_assert_held(&slot->lock);
	for (i = 0; i < slot->n_dies; i++) {
		if (READ_ONCE(slot->die[i]->has_driver))
			return true;
	}
	return false;
}

static void sleep_work(struct work_struct *work)
{
	struct bs_power *power = container_of(work, struct bs_power, sleep);
	struct bs_slot *slot = container_of(power, struct bs_slot, power);
	int ret = -EBUSY;

	mutex_lock(&slot->lock);
	if (READ_ONCE(power->is_waited_for) && !has_driver(slot))
		ret = bs_slot_vacate(slot, 0);
	mutex_unlock(&slot->lock);

	spin_lock(&slot->info_lock);
	power->ret = ret;
	if (power->is_waited_for)
		complete(&power->done);
	else
		bs_turn_give_locked(slot);
	spin_unlock(&slot->info_lock);
}

static void reboot_work(struct work_struct *work)
{
	struct bs_power *power = container_of(work, struct bs_power, reboot);
	struct bs_slot *slot = container_of(power, struct bs_slot, power);

	mutex_lock(&slot->lock);
	if (!has_driver(slot))
		bs_slot_restore(slot);
	mutex_unlock(&slot->lock);
	complete(&power->rebooted);
}

/* Give the turn back, or leave that to the work. */
static void end_sleep(struct bs_slot *slot, bool is_over)
{
	spin_lock(&slot->info_lock);
	slot->power.is_waited_for = false;
	if (is_over || completion_done(&slot->power.done))
		bs_turn_give_locked(slot);
	spin_unlock(&slot->info_lock);
}

/* The turn is kept from here to resume: nothing comes in meanwhile. */
static int before_sleep(struct bs_slot *slot)
{
	struct bs_power *power = &slot->power;
	int ret;

	if (bs_lease_is_foreign(slot, NULL, NULL) ||
	    mapping_mapped(slot->inode->i_mapping))
		return -EBUSY;
	ret = bs_turn_take(slot, NULL, true, true);
	if (ret)
		return ret;
	reinit_completion(&power->done);
	power->is_waited_for = true;
	queue_work(slot->wq, &power->sleep);
	if (!wait_for_completion_timeout(&power->done,
					 msecs_to_jiffies(SLEEP_MS))) {
		end_sleep(slot, false);
		return -EBUSY;
	}
	if (power->ret) {
		end_sleep(slot, true);
		return power->ret;
	}
	power->has_turn = true;
	return 0;
}

/* VRAM has lost power. Also called after a sleep that was refused. */
static void after_sleep(struct bs_slot *slot)
{
	u32 i;

	if (!slot->power.has_turn)
		return;
	slot->power.has_turn = false;
	for (i = 0; i < slot->n_dies; i++)
		bs_info_lost(slot->die[i]);
	end_sleep(slot, true);
}

static int pm_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct bs_slot *slot = container_of(nb, struct bs_slot, pm_nb);
	int ret;

	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		ret = before_sleep(slot);
		if (ret)
			pr_err("no suspend: a die is leased, mapped or in use\n");
		return notifier_from_errno(ret);
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		after_sleep(slot);
		break;
	}
	return NOTIFY_OK;
}

/*
 * A kernel that is started by kexec should find what we found. A bound driver
 * is shut down after this and needs its BARs: then all stays as it is.
 */
static int reboot_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct bs_slot *slot = container_of(nb, struct bs_slot, reboot_nb);

	queue_work(slot->wq, &slot->power.reboot);
	if (!wait_for_completion_timeout(&slot->power.rebooted,
					 msecs_to_jiffies(REBOOT_MS)))
		pr_err("reboot: somebody changes PCI devices; the dies stay as they are\n");
	return NOTIFY_OK;
}

int bs_power_register(struct bs_slot *slot)
{
	int ret;

	INIT_WORK(&slot->power.sleep, sleep_work);
	INIT_WORK(&slot->power.reboot, reboot_work);
	init_completion(&slot->power.done);
	init_completion(&slot->power.rebooted);
	slot->pm_nb.notifier_call = pm_event;
	slot->reboot_nb.notifier_call = reboot_event;
	ret = register_pm_notifier(&slot->pm_nb);
	if (ret)
		return ret;
	ret = register_reboot_notifier(&slot->reboot_nb);
	if (ret)
		unregister_pm_notifier(&slot->pm_nb);
	return ret;
}

void bs_power_unregister(struct bs_slot *slot)
{
	unregister_reboot_notifier(&slot->reboot_nb);
	unregister_pm_notifier(&slot->pm_nb);
	/* What a notifier no longer waited for. */
	flush_work(&slot->power.sleep);
	flush_work(&slot->power.reboot);
}
