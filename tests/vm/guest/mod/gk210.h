/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rig's dies and the stand-in of their driver have agreed upon, where
 * a real die has secrets of its vendor.
 */
#ifndef RIG_GK210_H
#define RIG_GK210_H

/*
 * The die's number, read-only: in configuration space, which always answers,
 * and in BAR0, where whoever is in the slot answers.
 */
#define GK_CONFIG_ID 0x4c0
#define GK_REG_ID    0x000004

/* What untrained memory gives, of the 0xbad0acxx that owners of a K80 report. */
#define GK_COLD_WORD 0xbad0ac01u
#define GK_COLD_MASK 0xffffff00u

/*
 * What trains cold memory: these values, in this order, to this register. On a
 * real die it is thousands of writes.
 */
#define GK_REG_TRAIN 0x10f100
#define GK_TRAINING                                \
	{                                          \
		0x6b383001, 0x6b383002, 0x6b383003 \
	}

#endif /* RIG_GK210_H */
