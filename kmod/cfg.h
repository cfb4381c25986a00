/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Config space: the only place that writes it.
 */
#ifndef _BS_CFG_H
#define _BS_CFG_H

#include "bs.h"

/* Config writes on behalf of a die. */
struct bs_cfg {
	struct bs_die *die; /* gets the error */
	bool is_dry; /* log, do not write */
	bool is_quiet; /* the device may be gone: no error to report */
};

/**
 * bs_cfg_write() - write a config dword and read it back
 * @c:    on whose behalf
 * @dev:  where
 * @reg:  register, a multiple of 4
 * @val:  what to write
 * @mask: the bits that must read back as written
 *
 * Return: 0; -EREMOTEIO, of a port -EIO: it reads back otherwise, reported with
 * both values.
 */
int bs_cfg_write(const struct bs_cfg *c, struct bs_dev *dev, int reg, u32 val,
		 u32 mask);

/**
 * bs_cfg_command() - change bits of COMMAND of a die
 * @clear: bits to clear
 * @set:   bits to set
 *
 * Always writes: what reads as off may only be a write that was lost.
 *
 * Return: 0; -EREMOTEIO as bs_cfg_write().
 */
int bs_cfg_command(const struct bs_cfg *c, u16 clear, u16 set);

/**
 * bs_cfg_port_on() - have a port forward memory and DMA
 *
 * Firmware that put nothing below a port leaves COMMAND.MEMORY and MASTER off.
 * What is on already is not written.
 *
 * Return: 0; -EIO as bs_cfg_write().
 */
int bs_cfg_port_on(const struct bs_cfg *c, struct bs_bridge *br);

/* Switch off again what bs_cfg_port_on() switched on. */
int bs_cfg_port_back(const struct bs_cfg *c, struct bs_bridge *br);

/* Both windows of a bridge, in an order that never opens too much. */
int bs_cfg_window(const struct bs_cfg *c, struct bs_bridge *br,
		  const struct bs_window *w);

/* One memory BAR of a die, by index. */
int bs_cfg_bar(const struct bs_cfg *c, int bar, u64 addr);

/* All BARs and the ROM of a die to 0. */
int bs_cfg_zero_bars(const struct bs_cfg *c);

/**
 * bs_cfg_size() - learn the sizes of a die's BARs
 *
 * Writes all-ones and puts back what was there. Decode must be off.
 *
 * Return: 0; -EIO the die does not answer.
 */
int bs_cfg_size(const struct bs_cfg *c);

/* Put back the config dwords of the snapshot; COMMAND only if asked. */
int bs_cfg_restore_die(const struct bs_cfg *c);
int bs_cfg_restore_command(const struct bs_cfg *c);

/* A config read with all-ones for a device that is gone. */
u32 bs_cfg_read(struct bs_dev *dev, int reg);

#endif /* _BS_CFG_H */
