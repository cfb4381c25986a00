// SPDX-License-Identifier: GPL-2.0-only
/* Who answers, how often, and what /proc/driver/nvidia says. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "gk210.h"
#include "nv.h"

static const char *const whys[NV_N_WHYS] = {
	[NV_PROBE] = "probe",   [NV_OPEN] = "open",     [NV_CALL] = "call",
	[NV_CLOSE] = "close",   [NV_REMOVE] = "remove", [NV_UVM] = "uvm",
	[NV_READER] = "reader", [NV_IRQ] = "irq",
};

static struct {
	atomic_t all, other, ones;
} counts[NV_N_WHYS];

static atomic_t opens, trainings;
static struct proc_dir_entry *proc, *proc_gpus;

static bool is_apart(enum nv_why why)
{
	return why == NV_READER || why == NV_IRQ;
}

int nv_touch(struct nv_gpu *gpu, enum nv_why why)
{
	u32 found = ioread32(gpu->regs + GK_REG_ID);
	char what[24] = "all-ones";

	atomic_inc(&counts[why].all);
	if (found == gpu->die)
		return 0;
	atomic_inc(found == ~0u ? &counts[why].ones : &counts[why].other);
	if (found != ~0u)
		snprintf(what, sizeof(what), "die %u", found);
	if (is_apart(why))
		pr_info("%s: %s: %s found %s\n", pci_name(gpu->pdev),
			current->comm, whys[why], what);
	else
		pr_err("%s: %s: touch at %s found %s\n", pci_name(gpu->pdev),
		       current->comm, whys[why], what);
	return -EIO;
}

int nv_touch_or_lose(struct nv_gpu *gpu, enum nv_why why)
{
	if (READ_ONCE(gpu->is_lost))
		return -EIO;
	if (!nv_touch(gpu, why))
		return 0;
	WRITE_ONCE(gpu->is_lost, true);
	pr_err("Xid (PCI:%s): 79, GPU has fallen off the bus.\n",
	       pci_name(gpu->pdev));
	return -EIO;
}
EXPORT_SYMBOL_GPL(nv_touch_or_lose);

void nv_count_training(void)
{
	atomic_inc(&trainings);
}

void nv_count_open(void)
{
	atomic_inc(&opens);
}

static int touches_show(struct seq_file *m, void *unused)
{
	int told = 0, i;

	for (i = 0; i < NV_N_WHYS; i++) {
		seq_printf(m, "%s %d other %d ones %d\n", whys[i],
			   atomic_read(&counts[i].all),
			   atomic_read(&counts[i].other),
			   atomic_read(&counts[i].ones));
		if (!is_apart(i))
			told += atomic_read(&counts[i].other) +
				atomic_read(&counts[i].ones);
	}
	seq_printf(m, "opens %d\ntrainings %d\ntold %d\n", atomic_read(&opens),
		   atomic_read(&trainings), told);
	return 0;
}

static int version_show(struct seq_file *m, void *unused)
{
	seq_puts(m,
		 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.0  stand-in\n");
	return 0;
}

static int information_show(struct seq_file *m, void *unused)
{
	const struct nv_gpu *gpu = m->private;

	seq_printf(m,
		   "Model: \t\t Tesla K80\n"
		   "IRQ:   \t\t %u\n"
		   "Bus Type: \t PCIe\n"
		   "Bus Location: \t %s\n"
		   "Device Minor: \t %u\n",
		   gpu->pdev->irq, pci_name(gpu->pdev), gpu->minor);
	return 0;
}

void nv_proc_add(struct nv_gpu *gpu)
{
	gpu->proc = proc_mkdir(pci_name(gpu->pdev), proc_gpus);
	if (gpu->proc)
		proc_create_single_data("information", 0444, gpu->proc,
					information_show, gpu);
}

void nv_proc_del(struct nv_gpu *gpu)
{
	proc_remove(gpu->proc);
}

int nv_touch_init(void)
{
	proc = proc_mkdir("driver/nvidia", NULL);
	if (!proc)
		return -ENOMEM;
	proc_gpus = proc_mkdir("gpus", proc);
	proc_create_single("touches", 0444, proc, touches_show);
	proc_create_single("version", 0444, proc, version_show);
	if (proc_gpus)
		return 0;
	nv_touch_exit();
	return -ENOMEM;
}

void nv_touch_exit(void)
{
	proc_remove(proc);
}
