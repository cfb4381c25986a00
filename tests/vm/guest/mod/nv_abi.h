/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the stand-in of libcuda and the stand-in of its driver. */
#ifndef RIG_NV_ABI_H
#define RIG_NV_ABI_H

#include <linux/ioctl.h>

#define NV_MAJOR     195 /* the vendor's, assigned to it by Linux */
#define NV_CTL_MINOR 255

/* on /dev/nvidiaN: something that needs the die's registers */
#define NV_IOC_CALL _IO('F', 1)
/* on /dev/nvidiaN: a kernel has ended, which raises an interrupt */
#define NV_IOC_END _IO('F', 2)
/* on /dev/nvidia-uvm: this memory map uses the die of that minor number */
#define NV_IOC_UVM_ADD _IO('F', 3)

#endif /* RIG_NV_ABI_H */
