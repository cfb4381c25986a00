/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and nowhere else. Kbuild asks the headers.
 */
#ifndef _BS_COMPAT_H
#define _BS_COMPAT_H

#include <linux/mm.h>
#include <linux/pci.h>

#ifndef BS_HAS_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/*
 * Without this option a huge PTE without struct pages needs devmap entries;
 * with it, it is what vfio-pci does.
 */
#if defined(CONFIG_ARCH_SUPPORTS_HUGE_PFNMAP) && \
	defined(CONFIG_TRANSPARENT_HUGEPAGE) && defined(BS_HAS_HUGE_FAULT_ORDER)
#define BS_HUGE_FAULT

#ifdef BS_HAS_PMD_PFN_T
#include <linux/pfn_t.h>
#endif

static inline vm_fault_t bs_insert_pmd(struct vm_fault *vmf, unsigned long pfn)
{
	bool write = vmf->flags & FAULT_FLAG_WRITE;

#ifdef BS_HAS_PMD_PFN_T
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write);
#else
	return vmf_insert_pfn_pmd(vmf, pfn, write);
#endif
}
#endif

#endif /* _BS_COMPAT_H */
