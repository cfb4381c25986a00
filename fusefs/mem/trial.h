/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether memory of a device can be had by another program. What a driver says
 * of itself is not believed: a page is made, and another program reads it.
 */
#ifndef K80FS_MEM_TRIAL_H
#define K80FS_MEM_TRIAL_H

#include "mem/priv.h"

/** trial_run() - sets why where it fails; a device that is full passes */
void trial_run(struct mem_die *d);

#endif /* K80FS_MEM_TRIAL_H */
