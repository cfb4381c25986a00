// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigpm: a PCI driver that registers a PM notifier in its probe on hot-plug
 *
 *	insmod rigpm.ko ms=5000
 *
 * Such a probe runs under the rescan lock, and registering waits for notifiers
 * that are running. Takes the lock for so long first.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/suspend.h>

static unsigned int ms = 1000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long the probe takes before it registers");

static int on_pm(struct notifier_block *nb, unsigned long event, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block nb = { .notifier_call = on_pm };

static int __init rigpm_init(void)
{
	int ret;

	pci_lock_rescan_remove();
	pr_info("rigpm: has the rescan lock\n");
	msleep(ms);
	ret = register_pm_notifier(&nb);
	pci_unlock_rescan_remove();
	return ret;
}

static void __exit rigpm_exit(void)
{
	unregister_pm_notifier(&nb);
}

module_init(rigpm_init);
module_exit(rigpm_exit);
MODULE_DESCRIPTION("A slow hot-plug probe for the VM tests");
MODULE_LICENSE("GPL");
