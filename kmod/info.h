/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is told without waiting: states, counters, errors, events.
 *
 * Context: all take info_lock, a leaf; but bs_info_event_locked().
 */
#ifndef _BS_INFO_H
#define _BS_INFO_H

#include "bs.h"

/* Record and log why something failed: time, then the formatted text. */
__printf(2, 3) void bs_die_error(struct bs_die *die, const char *fmt, ...);

void bs_info_init(struct bs_die *die);
bool bs_info_alive(struct bs_die *die, bool alive); /* true: it changed */
void bs_info_sizes(struct bs_die *die); /* of the BARs, as sized */
void bs_info_unusable(struct bs_die *die, const char *why);
/* Unusable until a later call with NULL. */
void bs_info_blocked(struct bs_die *die, const char *why);
void bs_info_driver(struct bs_die *die, const char *name);
void bs_info_lost(struct bs_die *die); /* its memory's contents */
void bs_info_marked(struct bs_die *die, bool has_mark);
void bs_info_reset(struct bs_die *die, bool counts);
void bs_info_shown(struct bs_slot *slot, struct bs_die *die);
void bs_info_probed(struct bs_die *die, enum bs_bar1_mode mode, bool has_vram);
void bs_info_cache(struct bs_die *die, u32 flag); /* BS_DIE_F_BAR1_WC or _UC */
void bs_info_swapped(struct bs_die *die, bool in);
void bs_info_acquired(struct bs_die *die, u64 swap_ns);
void bs_info_get(struct bs_client *client, struct bs_die *die,
		 struct bs_die_info *out);
void bs_info_query(struct bs_client *client, struct bs_query_info *out);
bool bs_info_changed(struct bs_client *client);
u64 bs_info_generation(struct bs_die *die);

/* Something that poll tells has changed. Caller holds info_lock. */
void bs_info_event_locked(struct bs_slot *slot);

#endif /* _BS_INFO_H */
