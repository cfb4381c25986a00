/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a simulated die's memory is, and who sees it. */
#ifndef BARSWAP_DEV_SIM_MEM_H
#define BARSWAP_DEV_SIM_MEM_H

#include "lib/sim.h"

/**
 * sim_mem_open() - make or open the files and reserve the address ranges
 * @s:   its n_dies and vram_bytes are set, all descriptors are -1
 * @dir: folder, or "" for unlinked files in $TMPDIR or /var/tmp
 *
 * On failure what was opened is left to sim_mem_close(), and @dir is as it was.
 *
 * Return: 0; -EBUSY @dir is in use; -EINVAL a file of another size or kind,
 * why_set() names it; -errno.
 */
int sim_mem_open(struct sim *s, const char *dir);

/** sim_mem_close() - unmap and close all that sim_mem_open() made */
void sim_mem_close(struct sim *s);

/**
 * sim_mem_show() - map the file of a die into its range
 *
 * Context: holder of the turn. Quick: there are no pages to take down.
 * Return: 0 or -errno.
 */
int sim_mem_show(struct sim *s, struct sim_die *die);

/**
 * sim_mem_hide() - from now on touching the range of a die raises SIGBUS
 *
 * Context: holder of the turn, without the lock: it may take pages down.
 * Return: 0 or -errno.
 */
int sim_mem_hide(struct sim *s, struct sim_die *die);

/**
 * sim_mem_zero() - clear part of a die; holes where the file system can
 * @off: bytes
 * @len: bytes, > 0, inside the memory
 *
 * Return: 0 or -errno.
 */
int sim_mem_zero(struct sim_die *die, uint64_t off, uint64_t len);

/**
 * sim_mem_wipe() - clear all of a die, as a reset does
 *
 * Where no holes can be punched the file is cut and grown again: somebody
 * who touches the memory meanwhile gets SIGBUS.
 *
 * Return: 0 or -errno.
 */
int sim_mem_wipe(struct sim *s, struct sim_die *die);

#endif /* BARSWAP_DEV_SIM_MEM_H */
