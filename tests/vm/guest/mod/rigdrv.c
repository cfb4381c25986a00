// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigdrv: a PCI driver that does with a die what the vendor's does
 *
 * Binds by driver_override only. Claims the memory of BAR1 as it finds it and
 * gives it back when it leaves. With decode=1 it switches on the decode of
 * memory as well when it comes, whether or not there is any.
 */
#include <linux/module.h>
#include <linux/pci.h>

static bool decode;
module_param(decode, bool, 0644);
MODULE_PARM_DESC(decode, "switch on the decode of memory");

static int rigdrv_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	u16 command;

	if (decode) {
		pci_read_config_word(pdev, PCI_COMMAND, &command);
		pci_write_config_word(pdev, PCI_COMMAND,
				      command | PCI_COMMAND_MEMORY);
	}
	return pci_request_region(pdev, 1, "rigdrv");
}

static void rigdrv_remove(struct pci_dev *pdev)
{
	pci_release_region(pdev, 1);
}

/* nothing matches by id: driver_override alone */
static const struct pci_device_id rigdrv_ids[] = { {} };

static struct pci_driver rigdrv = {
	.name = "rigdrv",
	.id_table = rigdrv_ids,
	.probe = rigdrv_probe,
	.remove = rigdrv_remove,
};

module_pci_driver(rigdrv);
MODULE_DESCRIPTION("Stand-in for a GPU driver in the VM tests");
MODULE_LICENSE("GPL");
