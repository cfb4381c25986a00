// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact: a die's decode off, its BARs sized and 0, its ports closed;
 * and whether it fits the slot.
 */
#include "bs.h"

/* BARs that the slot has room for; every other stays 0. */
const int bs_slot_bars[BS_SLOT_BARS] = { 0, 1, 3 };

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

static void quiesce(struct bs_die *die)
{
	const struct bs_cfg c = { .die = die };
	const char *why;
	int ret;

	if (!die->dev.is_kept || die->dev.is_gone || !bs_die_answers(die))
		return;
	ret = bs_die_decode_off(&c);
	ret = ret ?: bs_cfg_size(&c);
	ret = ret ?: bs_cfg_zero_bars(&c);
	if (ret) {
		bs_info_unusable(die, "it cannot be switched off");
		return;
	}
	why = bs_die_misfit(die);
	if (why)
		bs_info_unusable(die, why);
}

/* A 64-bit window is needed for a BAR1 above 4 GiB. */
static bool reaches(struct bs_slot *slot, struct bs_bridge *br)
{
	u32 pref = br->dev.cfg[PCI_PREF_MEMORY_BASE / 4];

	return slot->pref.end <= U32_MAX ||
	       (pref & BS_WINDOW_TYPE) == BS_WINDOW_64BIT;
}

void bs_chain_quiesce_all(struct bs_slot *slot)
{
	struct bs_bridge *br;
	unsigned int k;
	int ret;
	u32 i;

	/* All dies first: no window may move over one that decodes. */
	for (i = 0; i < slot->n_dies; i++)
		quiesce(slot->die[i]);
	for (i = 0; i < slot->n_dies; i++) {
		struct bs_die *die = slot->die[i];
		const struct bs_cfg c = { .die = die };

		if (!die->dev.is_kept)
			continue;
		ret = 0;
		list_for_each_entry_reverse(br, &die->chain->bridges, node)
			bs_bridge_close(&c, br, &ret);
		if (ret)
			bs_info_unusable(die, "its ports cannot be closed");
		for (k = 0; k < die->n_path; k++) {
			if (!reaches(slot, die->path[k]))
				bs_info_unusable(die,
						 "a port has no 64-bit window");
		}
	}
}
