// SPDX-License-Identifier: GPL-2.0-only
/* A die that is bound: its registers, its users, its memory. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/module.h>

#include "gk210.h"
#include "nv.h"
#include "nv_abi.h"

#define REG_PRAMIN_BASE 0x001700
#define REG_BAR1_BLOCK  0x001704
#define BAR1_VIRTUAL    BIT(31)
#define PRAMIN          0x700000
#define PCI_CLASS_3D    0x030200
#define VENDOR          0x10de
#define N_BARS          3
#define WAIT_MS         100

static bool reader;
module_param(reader, bool, 0644);
MODULE_PARM_DESC(reader, "read a register once a second while open");

static DEFINE_MUTEX(table_lock);
static struct nv_gpu *table[NV_CTL_MINOR]; /* under table_lock; by minor */

static bool is_cold(struct nv_gpu *gpu)
{
	iowrite32(0, gpu->regs + REG_PRAMIN_BASE);
	return (ioread32(gpu->regs + PRAMIN) & GK_COLD_MASK) ==
	       (GK_COLD_WORD & GK_COLD_MASK);
}

static int train(struct nv_gpu *gpu)
{
	static const u32 words[] = GK_TRAINING;
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		iowrite32(words[i], gpu->regs + GK_REG_TRAIN);
	if (is_cold(gpu)) {
		pci_err(gpu->pdev, "the memory is not to be trained\n");
		return -EIO;
	}
	nv_count_training();
	pci_info(gpu->pdev, "memory trained\n");
	return 0;
}

/* What the vendor's driver does to a die that nobody had open. */
static int set_up(struct nv_gpu *gpu)
{
	int ret = 0;

	if (is_cold(gpu))
		ret = train(gpu);
	if (ret)
		return ret;
	/* its BAR1 is a window of the GPU's virtual memory from now on */
	iowrite32(BAR1_VIRTUAL, gpu->regs + REG_BAR1_BLOCK);
	if (reader)
		schedule_delayed_work(&gpu->reader, HZ);
	return 0;
}

static void read_again(struct work_struct *work)
{
	struct nv_gpu *gpu =
		container_of(to_delayed_work(work), struct nv_gpu, reader);

	nv_touch(gpu, NV_READER);
	schedule_delayed_work(&gpu->reader, HZ);
}

static int use_locked(struct nv_gpu *gpu)
{
	int ret;

	lockdep_assert_held(&gpu->lock);
	if (gpu->is_leaving)
		return -ENODEV;
	ret = nv_touch_or_lose(gpu, NV_OPEN);
	if (!ret && !gpu->users)
		ret = set_up(gpu);
	if (!ret)
		gpu->users++;
	return ret;
}

struct nv_gpu *nv_get(unsigned int minor)
{
	struct nv_gpu *gpu = NULL;
	int ret = -ENODEV;

	mutex_lock(&table_lock);
	if (minor < ARRAY_SIZE(table))
		gpu = table[minor];
	if (gpu) {
		mutex_lock(&gpu->lock);
		ret = use_locked(gpu);
		mutex_unlock(&gpu->lock);
	}
	mutex_unlock(&table_lock);
	return ret ? ERR_PTR(ret) : gpu;
}
EXPORT_SYMBOL_GPL(nv_get);

void nv_put(struct nv_gpu *gpu)
{
	mutex_lock(&gpu->lock);
	if (!--gpu->users) {
		cancel_delayed_work_sync(&gpu->reader);
		nv_touch_or_lose(gpu, NV_CLOSE);
	}
	mutex_unlock(&gpu->lock);
}
EXPORT_SYMBOL_GPL(nv_put);

int nv_add(struct nv_gpu *gpu)
{
	unsigned int minor = 0;

	mutex_lock(&table_lock);
	while (minor < ARRAY_SIZE(table) && table[minor])
		minor++;
	if (minor < ARRAY_SIZE(table)) {
		gpu->minor = minor;
		table[minor] = gpu;
	}
	mutex_unlock(&table_lock);
	return minor < ARRAY_SIZE(table) ? 0 : -ENOSPC;
}

static bool is_used(struct nv_gpu *gpu)
{
	unsigned int users;

	mutex_lock(&gpu->lock);
	gpu->is_leaving = true;
	users = gpu->users;
	mutex_unlock(&gpu->lock);
	return users;
}

/* As the vendor's: there is no way to refuse, so it hangs until they close. */
void nv_del(struct nv_gpu *gpu)
{
	if (is_used(gpu))
		pci_err(gpu->pdev, "removed with open files, waiting\n");
	while (is_used(gpu))
		msleep(WAIT_MS);
	mutex_lock(&table_lock);
	table[gpu->minor] = NULL;
	mutex_unlock(&table_lock);
}

static int check_bars(struct pci_dev *pdev)
{
	static const int bars[N_BARS] = { 0, 1, 3 };
	int i;

	for (i = 0; i < N_BARS; i++) {
		const struct resource *r = &pdev->resource[bars[i]];

		if (r->start && !(r->flags & IORESOURCE_UNSET))
			continue;
		pci_err(pdev,
			"This PCI I/O region assigned to your NVIDIA device is invalid: BAR%d is %pR\n",
			bars[i], r);
		return -ENODEV;
	}
	return 0;
}

static int gpu_init(struct nv_gpu *gpu)
{
	int ret;

	gpu->regs = pci_iomap(gpu->pdev, 0, 0);
	if (!gpu->regs)
		return -ENOMEM;
	ret = pci_read_config_dword(gpu->pdev, GK_CONFIG_ID, &gpu->die);
	if (!ret)
		ret = nv_touch(gpu, NV_PROBE);
	if (!ret)
		ret = nv_add(gpu);
	if (ret)
		pci_iounmap(gpu->pdev, gpu->regs);
	return ret;
}

static int nv_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nv_gpu *gpu;
	int ret;

	ret = check_bars(pdev);
	if (ret)
		return ret;
	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return -ENOMEM;
	gpu->pdev = pdev;
	mutex_init(&gpu->lock);
	INIT_DELAYED_WORK(&gpu->reader, read_again);
	ret = pci_enable_device(pdev);
	if (ret)
		goto out_free;
	pci_set_master(pdev);
	ret = pci_request_regions(pdev, "nvidia");
	if (ret)
		goto out_disable;
	ret = gpu_init(gpu);
	if (ret)
		goto out_release;
	pci_set_drvdata(pdev, gpu);
	nv_proc_add(gpu);
	nv_node_add(gpu->minor);
	return 0;

out_release:
	pci_release_regions(pdev);
out_disable:
	pci_disable_device(pdev);
out_free:
	kfree(gpu);
	return ret;
}

static void nv_remove(struct pci_dev *pdev)
{
	struct nv_gpu *gpu = pci_get_drvdata(pdev);
	u16 command;

	nv_node_del(gpu->minor);
	nv_del(gpu);
	nv_proc_del(gpu);
	if (!gpu->is_lost)
		nv_touch(gpu, NV_REMOVE);
	pci_iounmap(pdev, gpu->regs);
	pci_release_regions(pdev);
	pci_disable_device(pdev);
	/* the vendor's leaves decode on (NV_PCI_DISABLE_DEVICE) */
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	pci_write_config_word(pdev, PCI_COMMAND, command | PCI_COMMAND_MEMORY);
	kfree(gpu);
}

static const struct pci_device_id nv_ids[] = {
	{ PCI_DEVICE(VENDOR, PCI_ANY_ID), .class = PCI_CLASS_3D,
	  .class_mask = ~0 },
	{},
};
MODULE_DEVICE_TABLE(pci, nv_ids);

static struct pci_driver nv_driver = {
	.name = "nvidia",
	.id_table = nv_ids,
	.probe = nv_probe,
	.remove = nv_remove,
};

static int __init nv_init(void)
{
	int ret;

	ret = nv_touch_init();
	if (ret)
		return ret;
	ret = nv_file_init();
	if (ret)
		goto out_touch;
	ret = pci_register_driver(&nv_driver);
	if (ret)
		goto out_file;
	return 0;

out_file:
	nv_file_exit();
out_touch:
	nv_touch_exit();
	return ret;
}

static void __exit nv_exit(void)
{
	pci_unregister_driver(&nv_driver);
	nv_file_exit();
	nv_touch_exit();
}

module_init(nv_init);
module_exit(nv_exit);
MODULE_ALIAS_CHARDEV_MAJOR(NV_MAJOR);
MODULE_DESCRIPTION("Stand-in of the vendor's driver for the VM tests");
MODULE_LICENSE("GPL");
