/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The background: a device that lies under the slot and answers all-ones.
 *
 * A PC reads all-ones where no device claims an address; QEMU reads zero.
 * A write that arrives here was meant for a die that was not in: a stray.
 */
#ifndef BG_H
#define BG_H

#include <stdint.h>

#include "vfu.h"

/** bg_dev() - the one background device */
struct vfu_dev *bg_dev(void);

/** bg_strays() - reads and writes that no die claimed, so far */
void bg_strays(uint64_t *reads, uint64_t *writes);

#endif /* BG_H */
