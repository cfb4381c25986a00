// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigcfg: a function that ignores writes to one configuration register
 *
 *	insmod rigcfg.ko bus=3 devfn=0 reg=0x14
 *
 * Swallows the writes by taking the place of the bus's accessors, so that the
 * kernel's own path to the hardware fails as it would with a broken bridge or
 * die. QEMU owns the bridges, so this cannot be ordered from the die program.
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

static int reg = -1;
module_param(reg, int, 0444);
MODULE_PARM_DESC(reg, "offset of the register that ignores writes");

static unsigned int swallowed;
module_param(swallowed, uint, 0444);
MODULE_PARM_DESC(swallowed, "out: writes swallowed so far");

static struct pci_bus *victim;
static struct pci_ops *real;

static int rigcfg_read(struct pci_bus *b, unsigned int fn, int where, int size,
		       u32 *val)
{
	return real->read(b, fn, where, size, val);
}

static int rigcfg_write(struct pci_bus *b, unsigned int fn, int where, int size,
			u32 val)
{
	if (b == victim && fn == devfn && where <= reg && reg < where + size) {
		swallowed++;
		return PCIBIOS_SUCCESSFUL;
	}
	return real->write(b, fn, where, size, val);
}

static struct pci_ops rigcfg_ops = {
	.read = rigcfg_read,
	.write = rigcfg_write,
};

static int __init rigcfg_init(void)
{
	victim = pci_find_bus(0, bus);
	if (!victim)
		return -ENODEV;
	real = pci_bus_set_ops(victim, &rigcfg_ops);
	return 0;
}

static void __exit rigcfg_exit(void)
{
	pci_bus_set_ops(victim, real);
}

module_init(rigcfg_init);
module_exit(rigcfg_exit);
MODULE_DESCRIPTION("Ignored configuration writes for the VM tests");
MODULE_LICENSE("GPL");
