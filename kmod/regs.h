/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of the die that is in.
 */
#ifndef _BS_REGS_H
#define _BS_REGS_H

#include "bs.h"

/* GPU registers, offsets into BAR0. Source: envytools, nouveau. */
#define BS_REG_BOOT   0x000000 /* chip id */
#define BS_REG_PRAMIN 0x001700 /* VRAM address >> 16 of the window below */
#define BS_REG_BAR1   0x001704 /* bit 31: BAR1 through the GPU's MMU */
#define BS_BAR1_VM    BIT(31)
#define BS_PRAMIN     0x700000 /* 1 MiB of VRAM */
#define BS_PRAMIN_END 0x800000

/**
 * bs_regs_probe() - ask the die that is in who it is
 *
 * Reads the chip id and BAR1's mode and, without a driver, compares one word
 * of VRAM through PRAMIN and through BAR1. Sets is_mappable, is_virtual.
 * Raises the generation if the mark left by the last call is gone, and leaves
 * one if no driver is bound.
 *
 * Context: map_lock for write, die decoding.
 * Return: 0; -ENXIO it reads all-ones: nothing of the above is set.
 */
int bs_regs_probe(struct bs_die *die);

/* The same of a die that stays in: one that reads all-ones is not alive. */
void bs_regs_ask_again(struct bs_die *die);

/*
 * BAR1 past the GPU's MMU, as nouveau leaves it; nobody but a driver wants it
 * otherwise. A register that is not there is not written.
 */
void bs_regs_go_physical(struct bs_slot *slot);

/* One register read: pushes posted writes; false if all-ones. */
bool bs_regs_answer(struct bs_slot *slot);

/* Does BAR1 of the die that is in, and answers, go through the GPU's MMU? */
bool bs_regs_is_virtual(struct bs_slot *slot);

/**
 * bs_regs_have_changed() - is the die that is in another than on record
 *
 * BAR1's mode, and the mark that a reset clears: two register reads. What has
 * changed is for bs_slot_look_again() to find out.
 *
 * Context: map_lock held, the die answers.
 */
bool bs_regs_have_changed(struct bs_die *die);

#endif /* _BS_REGS_H */
