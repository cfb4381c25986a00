// SPDX-License-Identifier: GPL-2.0-only
/* /dev/nvidiactl and /dev/nvidiaN. */
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "nv.h"
#include "nv_abi.h"

static bool irq;
module_param(irq, bool, 0644);
MODULE_PARM_DESC(irq, "read a register at the end of each kernel");

static bool nodes = true;
module_param(nodes, bool, 0444);
MODULE_PARM_DESC(nodes, "make the nodes, as the vendor's helper does");

static struct class nv_class = { .name = "nvidia" };
static struct page *page; /* all that is mapped */

/**
 * struct nv_file - an open file
 * @gpu:         NULL for nvidiactl
 * @has_context: work was given to the die through it, which its end takes back
 */
struct nv_file {
	struct nv_gpu *gpu;
	bool has_context;
};

static int nv_open(struct inode *inode, struct file *file)
{
	struct nv_file *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	if (iminor(inode) != NV_CTL_MINOR)
		f->gpu = nv_get(iminor(inode));
	if (IS_ERR(f->gpu)) {
		int ret = PTR_ERR(f->gpu);

		kfree(f);
		return ret;
	}
	nv_count_open();
	file->private_data = f;
	return 0;
}

/* Comes when the last descriptor and the last mapping have gone. */
static int nv_release(struct inode *inode, struct file *file)
{
	struct nv_file *f = file->private_data;

	if (f->has_context)
		nv_touch_or_lose(f->gpu, NV_CLOSE);
	if (f->gpu)
		nv_put(f->gpu);
	kfree(f);
	return 0;
}

static long nv_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct nv_file *f = file->private_data;

	if (!f->gpu)
		return -EINVAL;
	switch (cmd) {
	case NV_IOC_CALL:
		f->has_context = true;
		return nv_touch_or_lose(f->gpu, NV_CALL);
	case NV_IOC_END:
		if (irq)
			nv_touch(f->gpu, NV_IRQ);
		return 0;
	default:
		return -EINVAL;
	}
}

static int nv_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	return vm_insert_page(vma, vma->vm_start, page);
}

static const struct file_operations nv_fops = {
	.owner = THIS_MODULE,
	.open = nv_open,
	.release = nv_release,
	.unlocked_ioctl = nv_ioctl,
	.mmap = nv_mmap,
};

void nv_node_add(unsigned int minor)
{
	if (!nodes)
		return;
	if (minor == NV_CTL_MINOR)
		device_create(&nv_class, NULL, MKDEV(NV_MAJOR, minor), NULL,
			      "nvidiactl");
	else
		device_create(&nv_class, NULL, MKDEV(NV_MAJOR, minor), NULL,
			      "nvidia%u", minor);
}

void nv_node_del(unsigned int minor)
{
	if (nodes)
		device_destroy(&nv_class, MKDEV(NV_MAJOR, minor));
}

int nv_file_init(void)
{
	int ret;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	ret = class_register(&nv_class);
	if (ret)
		goto out_page;
	ret = register_chrdev(NV_MAJOR, "nvidia-frontend", &nv_fops);
	if (ret < 0)
		goto out_class;
	nv_node_add(NV_CTL_MINOR);
	return 0;

out_class:
	class_unregister(&nv_class);
out_page:
	__free_page(page);
	return ret;
}

void nv_file_exit(void)
{
	nv_node_del(NV_CTL_MINOR);
	unregister_chrdev(NV_MAJOR, "nvidia-frontend");
	class_unregister(&nv_class);
	__free_page(page);
}
