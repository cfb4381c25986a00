/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One chain: a die comes in, a die goes out.
 */
#ifndef _BS_CHAIN_H
#define _BS_CHAIN_H

#include "bs.h"

/**
 * bs_chain_enable() - put a die into the vacant slot
 *
 * Claims before the first register is written, decode on last. Of a die
 * without a driver BUS_MASTER is off and BAR1 physical. On failure everything
 * is as before and the reason is the die's last error.
 *
 * Context: bs_hw_lock() and map_lock for write.
 * Return: 0; -EREMOTEIO a config register of the die itself does not read back;
 * -ENXIO BAR0 reads all-ones; -EIO anything else.
 */
int bs_chain_enable(struct bs_die *die);

/**
 * bs_chain_disable() - take a die out of the slot
 * @is_quiet: an earlier error is the one to keep
 *
 * Goes on after an error: what can be closed is closed. A die that is gone is
 * not touched, its surviving bridges are.
 *
 * Context: as bs_chain_enable().
 * Return: 0; -EIO some register did not read back as written.
 */
int bs_chain_disable(struct bs_die *die, bool is_quiet);

/**
 * bs_chain_sweep() - close and release what an earlier die left behind
 * @die: gets the errors
 *
 * A die that is removed while it is in leaves its ports open and claimed; a
 * port may have refused to close; a rescan may have given a closed window
 * something. The place is held afterwards.
 *
 * Context: bs_hw_lock(), map_lock for write, no die in.
 * Return: 0; -EIO a port does not close: no other chain may be opened.
 */
int bs_chain_sweep(struct bs_die *die);

/**
 * bs_chain_take_back() - the die that is in has no driver any more
 *
 * BUS_MASTER off, BAR1 physical and write-combining, and the die asked again:
 * how a driver left it is not how it found it.
 *
 * Context: map_lock for write, every mapping zapped.
 */
void bs_chain_take_back(struct bs_die *die);

/* What is not as we left it: @dev NULL: nothing; @reg 0: a claim. */
struct bs_change {
	struct bs_dev *dev;
	int reg;
	u32 wanted;
	u32 got;
};

/**
 * bs_chain_is_intact() - is the die that is in still programmed as we left it
 * @change: set to the first thing that is not
 *
 * COMMAND, BAR0 and both halves of BAR1; COMMAND and both windows of every
 * port of its path; all their claims. Four config reads and five a port.
 */
bool bs_chain_is_intact(struct bs_die *die, struct bs_change *change);

/* Log every config write of a swap, from the snapshot; three times in 30 s. */
void bs_chain_dry_run(struct bs_die *from, struct bs_die *to);

#endif /* _BS_CHAIN_H */
