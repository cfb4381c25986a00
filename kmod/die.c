// SPDX-License-Identifier: GPL-2.0-only
/*
 * One die or port by itself, by its config space alone.
 */
#include "die.h"

#include "cfg.h"
#include "info.h"
#include "regs.h"

/* BARs that the slot has room for; every other stays 0. */
const int bs_slot_bars[BS_SLOT_BARS] = { 0, 1, 3 };

static const struct bs_window closed = BS_WINDOW_CLOSED;

bool bs_die_answers(struct bs_die *die)
{
	bool alive = bs_cfg_read(&die->dev, PCI_VENDOR_ID) != ~0u;

	/* Back from the dead: whatever it has now is not what we left. */
	if (bs_info_alive(die, alive) && alive)
		die->is_sized = false;
	return alive;
}

int bs_die_decode_off(const struct bs_cfg *c)
{
	u16 off = PCI_COMMAND_MEMORY | PCI_COMMAND_IO;

	/* Work that goes on while the die is out completes by DMA. */
	if (!c->die->has_driver)
		off |= PCI_COMMAND_MASTER;
	return bs_cfg_command(c, off, 0);
}

int bs_die_settle(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	int ret;

	ret = bs_cfg_command(&c, 0xffff, 0);
	return ret ?: bs_cfg_zero_bars(&c);
}

bool bs_die_was_reset(struct bs_die *die)
{
	struct bs_dev *dev = &die->dev;

	return !(bs_cfg_read(dev, PCI_COMMAND) & PCI_COMMAND_MEMORY) &&
	       !(bs_cfg_read(dev, PCI_BASE_ADDRESS_0) & BS_BAR_MASK) &&
	       !(bs_cfg_read(dev, PCI_BASE_ADDRESS_1) & BS_BAR_MASK) &&
	       !bs_cfg_read(dev, PCI_BASE_ADDRESS_2);
}

void bs_bridge_close(const struct bs_cfg *c, struct bs_bridge *br, int *ret)
{
	int err;

	if (br->dev.is_gone || !br->dev.is_kept) {
		br->is_open = false;
		return;
	}
	err = bs_cfg_window(c, br, &closed);
	*ret = *ret ?: err;
	if (c->is_dry)
		return;
	/* A port that answers nothing forwards nothing. */
	br->is_open = err && bs_cfg_read(&br->dev, PCI_VENDOR_ID) != ~0u;
}

u64 bs_slot_bar_addr(const struct bs_slot *slot, int bar)
{
	const struct bs_slot_geom *g = &slot->geom;

	return bar == 0 ? g->bar0 : bar == 1 ? g->bar1 : g->bar3;
}

u64 bs_slot_bar_size(const struct bs_slot *slot, int bar)
{
	const struct bs_slot_geom *g = &slot->geom;

	return bar == 0 ? g->bar0_size : bar == 1 ? g->bar1_size : g->bar3_size;
}

const char *bs_die_misfit(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	int i;

	for (i = 0; i < BS_SLOT_BARS; i++) {
		int bar = bs_slot_bars[i];
		u64 size = die->bar_size[bar];
		u64 addr = bs_slot_bar_addr(slot, bar);
		u8 type = die->bar_type[bar] & BS_BAR_TYPE;

		if (!size && bar != 3)
			return "BAR0 or BAR1 is missing";
		if (size > bs_slot_bar_size(slot, bar))
			return "a BAR is larger than its place in the slot";
		if (size && addr + size - 1 > U32_MAX && type != BS_BAR_64BIT)
			return "a BAR cannot hold its address in the slot";
	}
	if (die->bar_size[0] <= BS_REG_BAR1)
		return "BAR0 is smaller than the registers that are read";
	if (!(die->bar_type[1] & PCI_BASE_ADDRESS_MEM_PREFETCH))
		return "BAR1 is not prefetchable";
	if (die->bar_size[1] < bs_mapped_len(slot))
		return "BAR1 is smaller than the memory";
	return NULL;
}
