// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact: a die's decode off, its BARs sized and 0, its ports closed;
 * and whether it fits the slot.
 */
#include "quiesce.h"

#include "cfg.h"
#include "die.h"
#include "info.h"

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
