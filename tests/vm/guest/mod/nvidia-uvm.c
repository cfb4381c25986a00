// SPDX-License-Identifier: GPL-2.0-only
/*
 * nvidia-uvm: the stand-in's second module. What a process has running on a
 * die stops when its memory map goes, whoever else has its files open: seen
 * on driver 580, and in the vendor's source of 515.
 */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "nv.h"
#include "nv_abi.h"

#define MAX_GPUS 16

/**
 * struct uvm - an open file, which belongs to the memory map that opened it
 * @lock: guards @gpus and @n
 */
struct uvm {
	struct mmu_notifier notifier;
	struct mm_struct *mm;
	struct mutex lock;
	struct nv_gpu *gpus[MAX_GPUS];
	unsigned int n;
};

static int major;
static struct class uvm_class = { .name = "nvidia-uvm" };
static struct page *page;

/* Once, when the memory map goes or the file, whichever comes first. */
static void uvm_stop(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct uvm *u = container_of(notifier, struct uvm, notifier);

	mutex_lock(&u->lock);
	while (u->n) {
		struct nv_gpu *gpu = u->gpus[--u->n];

		nv_touch_or_lose(gpu, NV_UVM);
		nv_put(gpu);
	}
	mutex_unlock(&u->lock);
}

static const struct mmu_notifier_ops uvm_ops = { .release = uvm_stop };

static int uvm_open(struct inode *inode, struct file *file)
{
	struct uvm *u = kzalloc(sizeof(*u), GFP_KERNEL);
	int ret;

	if (!u)
		return -ENOMEM;
	mutex_init(&u->lock);
	u->notifier.ops = &uvm_ops;
	u->mm = current->mm;
	ret = mmu_notifier_register(&u->notifier, u->mm);
	if (ret) {
		kfree(u);
		return ret;
	}
	file->private_data = u;
	return 0;
}

static int uvm_release(struct inode *inode, struct file *file)
{
	struct uvm *u = file->private_data;

	mmu_notifier_unregister(&u->notifier, u->mm);
	kfree(u);
	return 0;
}

static long uvm_ioctl(struct file *file, unsigned int cmd, unsigned long minor)
{
	struct uvm *u = file->private_data;
	struct nv_gpu *gpu;
	long ret = 0;

	if (cmd != NV_IOC_UVM_ADD || current->mm != u->mm)
		return -EINVAL;
	mutex_lock(&u->lock);
	gpu = u->n < MAX_GPUS ? nv_get(minor) : ERR_PTR(-ENOSPC);
	if (IS_ERR(gpu))
		ret = PTR_ERR(gpu);
	else
		u->gpus[u->n++] = gpu;
	mutex_unlock(&u->lock);
	return ret;
}

static int uvm_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	return vm_insert_page(vma, vma->vm_start, page);
}

static const struct file_operations uvm_fops = {
	.owner = THIS_MODULE,
	.open = uvm_open,
	.release = uvm_release,
	.unlocked_ioctl = uvm_ioctl,
	.mmap = uvm_mmap,
};

static int __init uvm_init(void)
{
	int ret;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	ret = class_register(&uvm_class);
	if (ret)
		goto out_page;
	ret = register_chrdev(0, "nvidia-uvm", &uvm_fops);
	if (ret < 0)
		goto out_class;
	major = ret;
	device_create(&uvm_class, NULL, MKDEV(major, 0), NULL, "nvidia-uvm");
	return 0;

out_class:
	class_unregister(&uvm_class);
out_page:
	__free_page(page);
	return ret;
}

static void __exit uvm_exit(void)
{
	device_destroy(&uvm_class, MKDEV(major, 0));
	unregister_chrdev(major, "nvidia-uvm");
	class_unregister(&uvm_class);
	__free_page(page);
}

module_init(uvm_init);
module_exit(uvm_exit);
MODULE_DESCRIPTION("Stand-in of the vendor's unified memory for the VM tests");
MODULE_LICENSE("GPL");
