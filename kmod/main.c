// SPDX-License-Identifier: GPL-2.0-only
/*
 * bar_swap: several PCI dies take turns in one MMIO slot.
 *
 * Parameters; load and unload as mirror images.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "bs.h"
#include "chardev.h"
#include "discover.h"
#include "hw.h"
#include "mmap.h"
#include "notify.h"
#include "power.h"
#include "quiesce.h"
#include "regs.h"
#include "reset.h"
#include "restore.h"
#include "room.h"
#include "slot.h"

static unsigned long long bar0 = 0xF3000000;
module_param(bar0, ullong, 0444);
MODULE_PARM_DESC(bar0, "address of BAR0 in the slot");
static unsigned long long bar0_size = SZ_16M;
module_param(bar0_size, ullong, 0444);
MODULE_PARM_DESC(bar0_size, "bytes of BAR0");
static unsigned long long bar1 = 0xC00000000;
module_param(bar1, ullong, 0444);
MODULE_PARM_DESC(bar1, "address of BAR1 in the slot");
static unsigned long long bar1_size = 16ULL << 30;
module_param(bar1_size, ullong, 0444);
MODULE_PARM_DESC(bar1_size, "bytes of BAR1");
static unsigned long long bar3 = 0xF4000000;
module_param(bar3, ullong, 0444);
MODULE_PARM_DESC(bar3, "address of BAR3 in the slot");
static unsigned long long bar3_size = SZ_32M;
module_param(bar3_size, ullong, 0444);
MODULE_PARM_DESC(bar3_size, "bytes of BAR3; 0 if the dies have none");
static unsigned long long vram_bytes = 12ULL << 30;
module_param(vram_bytes, ullong, 0444);
MODULE_PARM_DESC(vram_bytes, "bytes of memory of a die");
static unsigned long long resmem_bytes;
module_param(resmem_bytes, ullong, 0444);
MODULE_PARM_DESC(resmem_bytes, "bytes at its end that are a carve-out");
static char *first_sbr = "auto";
module_param(first_sbr, charp, 0444);
MODULE_PARM_DESC(first_sbr,
		 "reset a die's bus at its first acquire, which makes its memory's contents undefined: 1 always, 0 never, auto (default) once if it does not do as told");
static bool verbose;
module_param(verbose, bool, 0444);
MODULE_PARM_DESC(verbose, "log each swap");
static bool dry_run;
module_param(dry_run, bool, 0444);
MODULE_PARM_DESC(dry_run, "acquires log their config writes and make none");
static char *ids = "";
module_param(ids, charp, 0444);
MODULE_PARM_DESC(ids, "more dies: vvvv:dddd,...");

static struct bs_slot *slot;

/* The K80's GK210, then what ids= names. */
static int parse_ids(void)
{
	const char *at = ids;
	unsigned int device;
	unsigned int vendor;
	int n = 0;
	int len;

	slot->ids[n++] = (struct pci_device_id){ PCI_DEVICE(0x10de, 0x102d) };
	while (*at) {
		if (n == BS_MAX_IDS ||
		    sscanf(at, "%4x:%4x%n", &vendor, &device, &len) != 2 ||
		    (at[len] && at[len] != ',')) {
			pr_err("ids: \"%s\" is not vvvv:dddd,...\n", at);
			return -EINVAL;
		}
		slot->ids[n++] =
			(struct pci_device_id){ PCI_DEVICE(vendor, device) };
		at += len + (at[len] == ',');
	}
	return 0;
}

static int parse_first_sbr(void)
{
	bool is_always;

	slot->first_sbr = BS_SBR_AUTO;
	if (!strcmp(first_sbr, "auto"))
		return 0;
	if (kstrtobool(first_sbr, &is_always)) {
		pr_err("first_sbr: \"%s\" is not auto, 0 or 1\n", first_sbr);
		return -EINVAL;
	}
	slot->first_sbr = is_always ? BS_SBR_ALWAYS : BS_SBR_NEVER;
	return 0;
}

static int read_params(void)
{
	const char *wrong;
	int ret;

	slot->geom = (struct bs_slot_geom){
		.bar0 = bar0,
		.bar0_size = bar0_size,
		.bar1 = bar1,
		.bar1_size = bar1_size,
		.bar3 = bar3,
		.bar3_size = bar3_size,
	};
	slot->is_dry = dry_run;
	slot->is_verbose = verbose;
	/* On x86 the end of iomem is what the CPU can address. */
	wrong = bs_slot_check(&slot->geom, iomem_resource.end);
	if (wrong) {
		pr_err("bad slot: %s\n", wrong);
		return -EINVAL;
	}
	slot->pref = bs_slot_pref(&slot->geom);
	slot->nonpref = bs_slot_nonpref(&slot->geom);
	ret = bs_region_compute(vram_bytes, resmem_bytes, &slot->region);
	if (!ret &&
	    (slot->region.usemem_bar > bar1_size || vram_bytes > bar1_size))
		ret = -EINVAL;
	if (ret) {
		pr_err("vram_bytes=%llu resmem_bytes=%llu do not fit BAR1\n",
		       vram_bytes, resmem_bytes);
		return ret;
	}
	return parse_first_sbr() ?: parse_ids();
}

/* Nobody will tell when the drivers of these dies leave. */
static void forget_drivers(struct bs_chain *chain)
{
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (slot->die[i]->chain == chain)
			bs_notify_forget_driver(slot->die[i]);
	}
}

/* Chains that the kernel itself uses are left alone from here on. */
static void refuse_used(void)
{
	struct bs_chain *chain;
	u32 i;

	for (i = 0; i < slot->n_dies; i++) {
		if (!slot->die[i]->dev.is_gone &&
		    !slot->die[i]->chain->stranger[0])
			bs_notify_found_driver(slot->die[i]);
	}
	list_for_each_entry(chain, &slot->chains, node) {
		if (chain->stranger[0])
			continue;
		/* Somebody may have come since discovery. */
		if (!bs_chain_find_stranger(slot, chain, NULL, chain->stranger) &&
		    !bs_chain_is_in_use(slot, chain))
			continue;
		bs_chain_refuse(slot, chain);
		forget_drivers(chain);
	}
}

/* Structs first: a place that cannot be had is found before any write. */
static int take_over(void)
{
	u32 all = bs_slot_all(slot);
	int ret;

	mutex_lock(&slot->lock);
	ret = bs_hw_lock(slot, all, 0);
	if (ret)
		goto out_unlock;
	refuse_used();
	bs_keep_all(slot);
	bs_blank_all(slot);
	ret = bs_hold_place(slot);
	if (ret) {
		bs_drop_place(slot);
		bs_unblank_all(slot);
		bs_unkeep_all(slot);
	} else {
		bs_hold_chains(slot);
		bs_chain_quiesce_all(slot);
	}
	bs_hw_unlock(slot, all);
out_unlock:
	mutex_unlock(&slot->lock);
	return ret;
}

static void give_back(void)
{
	mutex_lock(&slot->lock);
	bs_slot_restore(slot);
	bs_unkeep_all(slot);
	mutex_unlock(&slot->lock);
}

static void forget_all_drivers(void)
{
	struct bs_chain *chain;

	list_for_each_entry(chain, &slot->chains, node)
		forget_drivers(chain);
}

static int find_all(void)
{
	int ret;

	pci_lock_rescan_remove();
	ret = bs_discover(slot);
	ret = ret ?: bs_slot_find_room(slot);
	ret = ret ?: bs_notify_register_bus(slot);
	pci_unlock_rescan_remove();
	return ret;
}

/* The one line that says what was found of a die. */
static void describe(struct bs_die *die)
{
	static const char *const states[] = { "idle", "active", "dead",
					      "no_vram", "unusable" };
	char path[BS_MAX_DEPTH * sizeof("0000:00:00.0 ")];
	unsigned int i;
	int n = 0;

	for (i = 0; i < die->n_path; i++)
		n += scnprintf(path + n, sizeof(path) - n, " %s",
			       pci_name(die->path[i]->dev.pdev));
	pr_info("die %u: %s below%s, BAR0 %llu MiB, BAR1 %llu MiB, BAR3 %llu MiB, %s\n",
		die->id, die->info.bdf, path, die->bar_size[0] >> 20,
		die->bar_size[1] >> 20, die->bar_size[3] >> 20,
		states[die->info.state]);
}

static int __init bar_swap_init(void)
{
	int ret;
	u32 i;

	slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	if (!slot)
		return -ENOMEM;
	bs_slot_init(slot);
	ret = read_params();
	if (ret)
		goto out_free;
	ret = bs_mmap_init(slot);
	if (ret)
		goto out_free;
	ret = bs_reset_init(slot);
	if (ret)
		goto out_mmap;
	ret = find_all();
	if (ret)
		goto out_forget;
	slot->regs =
		ioremap(slot->geom.bar0, min_t(u64, bar0_size, BS_PRAMIN_END));
	if (!slot->regs) {
		ret = -ENOMEM;
		goto out_bus;
	}
	ret = take_over();
	if (ret)
		goto out_regs;
	for (i = 0; i < slot->n_dies; i++)
		describe(slot->die[i]);
	pr_info("%u dies of %llu bytes, slot empty: BAR0 %#llx BAR1 %#llx BAR3 %#llx\n",
		slot->n_dies, slot->region.usemem_len, bar0, bar1, bar3);
	ret = bs_power_register(slot);
	if (ret)
		goto out_give_back;
	ret = bs_chardev_register(slot);
	if (ret)
		goto out_power;
	return 0;

out_power:
	bs_power_unregister(slot);
out_give_back:
	give_back();
out_regs:
	iounmap(slot->regs);
out_bus:
	bs_notify_unregister_bus(slot);
	forget_all_drivers();
out_forget:
	bs_forget(slot);
	bs_reset_exit(slot);
out_mmap:
	bs_mmap_exit(slot);
out_free:
	kfree(slot);
	return ret;
}

static void __exit bar_swap_exit(void)
{
	bs_chardev_unregister();
	bs_power_unregister(slot);
	/* A reset whose caller was interrupted may still be under way. */
	bs_reset_exit(slot);
	give_back();
	iounmap(slot->regs);
	bs_notify_unregister_bus(slot);
	forget_all_drivers();
	bs_forget(slot);
	bs_mmap_exit(slot);
	kfree(slot);
}

module_init(bar_swap_init);
module_exit(bar_swap_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(BS_RELEASE);
MODULE_DESCRIPTION("Time-multiplexes large-BAR PCI devices through one MMIO slot");
