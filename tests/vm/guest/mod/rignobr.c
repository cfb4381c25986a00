// SPDX-License-Identifier: GPL-2.0-only
/*
 * rignobr: a function whose bus Linux will not reset, as it does for some by
 * their ids
 *
 *	insmod rignobr.ko bus=3 devfn=0
 *
 * Removing the module heals.
 */
#include <linux/module.h>
#include <linux/pci.h>

static int bus = -1;
module_param(bus, int, 0444);
MODULE_PARM_DESC(bus, "bus number of the function");

static int devfn;
module_param(devfn, int, 0444);
MODULE_PARM_DESC(devfn, "its device << 3 | function");

static struct pci_dev *pdev;

static int __init rignobr_init(void)
{
	pdev = pci_get_domain_bus_and_slot(0, bus, devfn);
	if (!pdev)
		return -ENODEV;
	pdev->dev_flags |= PCI_DEV_FLAGS_NO_BUS_RESET;
	return 0;
}

static void __exit rignobr_exit(void)
{
	pdev->dev_flags &= ~PCI_DEV_FLAGS_NO_BUS_RESET;
	pci_dev_put(pdev);
}

module_init(rignobr_init);
module_exit(rignobr_exit);
MODULE_DESCRIPTION("A bus without a reset for the VM tests");
MODULE_LICENSE("GPL");
