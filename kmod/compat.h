/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every test of the kernel's version, and nowhere else.
 */
#ifndef _BS_COMPAT_H
#define _BS_COMPAT_H

#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/*
 * Before 6.12 a huge PTE without struct pages needs devmap entries; from
 * there on it is what vfio-pci does.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && \
	defined(CONFIG_ARCH_SUPPORTS_HUGE_PFNMAP) &&  \
	defined(CONFIG_TRANSPARENT_HUGEPAGE)
#define BS_HUGE_FAULT

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#include <linux/pfn_t.h>
#endif

static inline vm_fault_t bs_insert_pmd(struct vm_fault *vmf, unsigned long pfn)
{
	bool write = vmf->flags & FAULT_FLAG_WRITE;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write);
#else
	return vmf_insert_pfn_pmd(vmf, pfn, write);
#endif
}
#endif

#endif /* _BS_COMPAT_H */
