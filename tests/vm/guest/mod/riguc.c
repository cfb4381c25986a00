// SPDX-License-Identifier: GPL-2.0-only
/*
 * riguc: somebody who maps a page of a range uncached, and keeps it mapped
 *
 *	insmod riguc.ko addr=0xc00000000
 */
#include <linux/io.h>
#include <linux/module.h>

static unsigned long long addr;
module_param(addr, ullong, 0444);
MODULE_PARM_DESC(addr, "where");

static void __iomem *page;

static int __init riguc_init(void)
{
	page = ioremap(addr, PAGE_SIZE);
	return page ? 0 : -ENOMEM;
}

static void __exit riguc_exit(void)
{
	iounmap(page);
}

module_init(riguc_init);
module_exit(riguc_exit);
MODULE_DESCRIPTION("An uncached mapping for the VM tests");
MODULE_LICENSE("GPL");
