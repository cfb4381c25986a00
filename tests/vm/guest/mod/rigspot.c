// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigspot: somebody who has a piece of the address space
 *
 *	insmod rigspot.ko start=0x41000000 len=0x1000
 *
 * Removing the module gives it back.
 */
#include <linux/ioport.h>
#include <linux/module.h>

static unsigned long long start;
module_param(start, ullong, 0444);
MODULE_PARM_DESC(start, "first address");

static unsigned long long len;
module_param(len, ullong, 0444);
MODULE_PARM_DESC(len, "bytes");

static int __init rigspot_init(void)
{
	return request_mem_region(start, len, "rigspot") ? 0 : -EBUSY;
}

static void __exit rigspot_exit(void)
{
	release_mem_region(start, len);
}

module_init(rigspot_init);
module_exit(rigspot_exit);
MODULE_DESCRIPTION("A claimed piece of memory space for the VM tests");
MODULE_LICENSE("GPL");
