// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings: pages come at the first touch, and only of the die that is in
 * the slot. Everything else gets SIGBUS.
 */
#include "mmap.h"

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pseudo_fs.h>

#include "slot.h"

#define DIE_PGSHIFT (BS_MMAP_DIE_SHIFT - PAGE_SHIFT)
#define DIE_PGMASK  ((1UL << DIE_PGSHIFT) - 1)
/* Where no huge PTE can be had, a fault brings as much as one would. */
#define RUN_PAGES (SZ_2M >> PAGE_SHIFT)

static struct bs_client *vma_client(struct vm_area_struct *vma)
{
	return vma->vm_file->private_data;
}

static struct bs_slot *vma_slot(struct vm_area_struct *vma)
{
	return vma_client(vma)->slot;
}

static u32 vma_die(struct vm_area_struct *vma)
{
	return vma->vm_pgoff >> DIE_PGSHIFT;
}

/*
 * VRAM of a die with a driver holds GPU page tables: whoever writes them can
 * make the GPU write any host page. A BAR1 in virtual mode may show any. What
 * counts is what the open file asked for, not who touches: a daemon of root's
 * touches on behalf of others.
 */
static bool may_touch(struct vm_area_struct *vma, const struct bs_die *die)
{
	return READ_ONCE(vma_client(vma)->sees_driver_mem) ||
	       !(die->has_driver || die->is_virtual);
}

/* The page frame of an address; false if it is not to be had. */
static bool get_pfn_locked(struct vm_area_struct *vma, unsigned long addr,
			   unsigned long *pfn)
{
	struct bs_slot *slot = vma_slot(vma);
	struct bs_die *die = slot->active;
	unsigned long off;

	lockdep_assert_held(&slot->map_lock);
	if (!die || die->id != vma_die(vma) || die->dev.is_gone ||
	    !die->is_mappable || !may_touch(vma, die))
		return false;
	off = (vma->vm_pgoff & DIE_PGMASK) +
	      ((addr - vma->vm_start) >> PAGE_SHIFT);
	*pfn = (slot->geom.bar1 >> PAGE_SHIFT) + off;
	return true;
}

/* The page at @addr must come; its neighbours up to 2 MiB may. */
static vm_fault_t insert_run(struct vm_area_struct *vma, unsigned long addr,
			     unsigned long pfn)
{
	unsigned long run = round_down(addr, RUN_PAGES << PAGE_SHIFT);
	unsigned long start = max(run, vma->vm_start);
	unsigned long end = min(run + (RUN_PAGES << PAGE_SHIFT), vma->vm_end);
	vm_fault_t ret = vmf_insert_pfn(vma, addr, pfn);
	unsigned long at;

	for (at = start; at < end && ret == VM_FAULT_NOPAGE; at += PAGE_SIZE) {
		unsigned long to =
			pfn + (at >> PAGE_SHIFT) - (addr >> PAGE_SHIFT);

		if (at != addr && vmf_insert_pfn(vma, at, to) != VM_FAULT_NOPAGE)
			break;
	}
	return ret;
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long addr = vmf->address & PAGE_MASK;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned long pfn;

	down_read(&vma_slot(vma)->map_lock);
	if (get_pfn_locked(vma, addr, &pfn))
		ret = insert_run(vma, addr, pfn);
	up_read(&vma_slot(vma)->map_lock);
	return ret;
}

#ifdef BS_HUGE_FAULT
static vm_fault_t huge_fault(struct vm_fault *vmf, unsigned int order)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long addr = vmf->address & PMD_MASK;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	unsigned long pfn;

	if (order != PMD_ORDER || addr < vma->vm_start ||
	    addr + PMD_SIZE > vma->vm_end)
		return VM_FAULT_FALLBACK;
	down_read(&vma_slot(vma)->map_lock);
	if (get_pfn_locked(vma, addr, &pfn)) {
		if (IS_ALIGNED(pfn, PMD_SIZE >> PAGE_SHIFT))
			ret = bs_insert_pmd(vmf, pfn);
		else
			ret = VM_FAULT_FALLBACK;
	}
	up_read(&vma_slot(vma)->map_lock);
	return ret;
}
#endif

static const struct vm_operations_struct vm_ops = {
	.fault = fault,
#ifdef BS_HUGE_FAULT
	.huge_fault = huge_fault,
#endif
};

int bs_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct bs_client *client = file->private_data;
	struct bs_slot *slot = client->slot;
	unsigned long off = vma->vm_pgoff & DIE_PGMASK;
	u64 pages = bs_mapped_len(slot) >> PAGE_SHIFT;
	struct bs_die *die;
	int ret = 0;

	/* A private writable mapping of page frames would be a kernel bug. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	die = bs_slot_die(slot, vma_die(vma));
	if (!die)
		return -ENODEV;
	if (off + vma_pages(vma) > pages)
		return -EINVAL;

	down_read(&slot->map_lock);
	if (slot->active == die && !die->is_mappable)
		ret = -EIO;
	up_read(&slot->map_lock);
	if (ret)
		return ret;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	/* Device memory is never encrypted, whatever AMD's SME does with RAM. */
	vma->vm_page_prot =
		pgprot_decrypted(pgprot_writecombine(vma->vm_page_prot));
	vma->vm_ops = &vm_ops;
	return 0;
}

static int init_fs_context(struct fs_context *fc)
{
	return init_pseudo(fc, 0x62737770) ? 0 : -ENOMEM; /* "bswp" */
}

/*
 * No .owner: the mount would hold a reference on the module for good. Open
 * files hold one through their file_operations.
 */
static struct file_system_type fs_type = {
	.name = "bar_swap",
	.init_fs_context = init_fs_context,
	.kill_sb = kill_anon_super,
};

/*
 * One inode for all opens: the device node may have been made more than once,
 * and each copy has a mapping of its own that a zap would miss.
 */
int bs_mmap_init(struct bs_slot *slot)
{
	int ret;

	ret = simple_pin_fs(&fs_type, &slot->mnt, &slot->mnt_count);
	if (ret)
		return ret;
	slot->inode = alloc_anon_inode(slot->mnt->mnt_sb);
	if (!IS_ERR(slot->inode))
		return 0;
	ret = PTR_ERR(slot->inode);
	simple_release_fs(&slot->mnt, &slot->mnt_count);
	return ret;
}

void bs_mmap_exit(struct bs_slot *slot)
{
	iput(slot->inode);
	simple_release_fs(&slot->mnt, &slot->mnt_count);
}
