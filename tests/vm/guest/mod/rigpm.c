// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigpm: a PCI driver that registers a PM notifier in its probe on hot-plug
 *
 *	insmod rigpm.ko &
 *	echo 0 >/sys/module/rigpm/parameters/hold
 *
 * Such a probe runs under the rescan lock, and registering waits for notifiers
 * that are running. Has the lock, and registers when it is told to.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/suspend.h>

#define HOLD_MAX_MS 300000
#define STEP_MS     10

static bool hold = true;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "the probe goes on for so long as this is set");

static int on_pm(struct notifier_block *nb, unsigned long event, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block nb = { .notifier_call = on_pm };

static int __init rigpm_init(void)
{
	int ms;
	int ret;

	pci_lock_rescan_remove();
	pr_info("rigpm: has the rescan lock\n");
	for (ms = 0; ms < HOLD_MAX_MS && READ_ONCE(hold); ms += STEP_MS)
		msleep(STEP_MS);
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
