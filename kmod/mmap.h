/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User mappings.
 */
#ifndef _BS_MMAP_H
#define _BS_MMAP_H

#include "bs.h"

int bs_mmap_init(struct bs_slot *slot);
void bs_mmap_exit(struct bs_slot *slot);
int bs_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* _BS_MMAP_H */
