// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told without waiting: states, counters, errors, events. All of it is
 * under info_lock, a leaf, so that DIE_INFO and QUERY never wait for a swap.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "info.h"

#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/string.h>
#include <linux/time.h>

void bs_info_event_locked(struct bs_slot *slot)
{
	lockdep_assert_held(&slot->info_lock);
	slot->event++;
	wake_up_poll(&slot->poll_wq, EPOLLPRI);
}

/* The memory's contents are gone; the mark that would tell so has served. */
static void lose_memory_locked(struct bs_die *die)
{
	lockdep_assert_held(&die->slot->info_lock);
	die->has_mark = false;
	die->info.generation++;
	bs_info_event_locked(die->slot);
}

/* Derive state from facts; an event if it changed. */
static void refresh_locked(struct bs_die *die)
{
	struct bs_slot *slot = die->slot;
	u32 state = BS_DIE_IDLE;

	lockdep_assert_held(&slot->info_lock);
	if (die->is_unusable || die->is_blocked)
		state = BS_DIE_UNUSABLE;
	else if (!(die->info.flags & BS_DIE_F_ALIVE))
		state = BS_DIE_DEAD;
	else if (slot->shown == die->id)
		state = die->has_vram ? BS_DIE_ACTIVE : BS_DIE_NO_VRAM;
	if (state == die->info.state)
		return;
	die->info.state = state;
	bs_info_event_locked(slot);
}

void bs_die_error(struct bs_die *die, const char *fmt, ...)
{
	char text[sizeof(die->info.last_error)];
	char *last = die->info.last_error;
	bool is_news;
	struct tm tm;
	va_list args;
	int n;

	time64_to_tm(ktime_get_real_seconds(), 0, &tm);
	n = scnprintf(text, sizeof(text), "%04ld-%02d-%02dT%02d:%02d:%02dZ ",
		      tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
		      tm.tm_min, tm.tm_sec);
	va_start(args, fmt);
	vscnprintf(text + n, sizeof(text) - n, fmt, args);
	va_end(args);

	spin_lock(&die->slot->info_lock);
	is_news = strlen(last) <= n || strcmp(last + n, text + n);
	strscpy(last, text, sizeof(die->info.last_error));
	bs_info_event_locked(die->slot);
	spin_unlock(&die->slot->info_lock);

	/* one error again and again, which a caller can order, fills no log;
	 * each of several, as of the registers of a chain, is needed there */
	if (is_news)
		pr_err("die %u: %s\n", die->id, text + n);
	else
		pr_err_ratelimited("die %u: %s\n", die->id, text + n);
}

void bs_info_init(struct bs_die *die)
{
	const struct bs_slot_geom *g = &die->slot->geom;
	struct pci_dev *pdev = die->dev.pdev;

	die->has_vram = true;
	die->info = (struct bs_die_info){
		.die_id = die->id,
		.flags = BS_DIE_F_ALIVE,
		.vendor = pdev->vendor,
		.device = pdev->device,
		.subvendor = pdev->subsystem_vendor,
		.subdevice = pdev->subsystem_device,
		.bar0_addr = g->bar0,
		.bar1_addr = g->bar1,
		.bar3_addr = g->bar3,
		.bar0_size = g->bar0_size,
		.bar1_size = g->bar1_size,
		.bar3_size = g->bar3_size,
		.vram_bytes = die->slot->region.usemem_len,
		.resmem_bytes = die->slot->region.resmem_len,
	};
	strscpy(die->info.bdf, pci_name(pdev), sizeof(die->info.bdf));
}

bool bs_info_alive(struct bs_die *die, bool alive)
{
	bool changed;

	spin_lock(&die->slot->info_lock);
	changed = alive != !!(die->info.flags & BS_DIE_F_ALIVE);
	if (changed) {
		die->info.flags ^= BS_DIE_F_ALIVE;
		/* It lost power or was reset while it did not answer. */
		if (alive)
			lose_memory_locked(die);
		bs_info_event_locked(die->slot);
	}
	refresh_locked(die);
	spin_unlock(&die->slot->info_lock);
	return changed;
}

void bs_info_sizes(struct bs_die *die)
{
	spin_lock(&die->slot->info_lock);
	die->info.bar0_size = die->bar_size[0];
	die->info.bar1_size = die->bar_size[1];
	die->info.bar3_size = die->bar_size[3];
	spin_unlock(&die->slot->info_lock);
}

void bs_info_unusable(struct bs_die *die, const char *why)
{
	bs_die_error(die, "unusable: %s", why);
	spin_lock(&die->slot->info_lock);
	die->is_unusable = true;
	refresh_locked(die);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_blocked(struct bs_die *die, const char *why)
{
	if (why)
		bs_die_error(die, "unusable: %s", why);
	spin_lock(&die->slot->info_lock);
	die->is_blocked = why;
	refresh_locked(die);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_driver(struct bs_die *die, const char *name)
{
	spin_lock(&die->slot->info_lock);
	strscpy(die->info.driver, name, sizeof(die->info.driver));
	bs_info_event_locked(die->slot);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_lost(struct bs_die *die)
{
	spin_lock(&die->slot->info_lock);
	lose_memory_locked(die);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_marked(struct bs_die *die, bool has_mark)
{
	spin_lock(&die->slot->info_lock);
	die->has_mark = has_mark;
	spin_unlock(&die->slot->info_lock);
}

void bs_info_reset(struct bs_die *die, bool counts)
{
	spin_lock(&die->slot->info_lock);
	die->info.resets++;
	die->has_mark = false;
	if (counts)
		lose_memory_locked(die);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_shown(struct bs_slot *slot, struct bs_die *die)
{
	u32 id = die ? die->id : BS_NO_DIE;
	u32 old;

	spin_lock(&slot->info_lock);
	old = slot->shown;
	slot->shown = id;
	if (old != BS_NO_DIE)
		refresh_locked(slot->die[old]);
	if (die)
		refresh_locked(die);
	if (old != id)
		bs_info_event_locked(slot);
	spin_unlock(&slot->info_lock);
}

void bs_info_probed(struct bs_die *die, enum bs_bar1_mode mode, bool has_vram)
{
	spin_lock(&die->slot->info_lock);
	die->has_vram = has_vram;
	if (die->info.bar1_mode != mode) {
		die->info.bar1_mode = mode;
		bs_info_event_locked(die->slot);
	}
	refresh_locked(die);
	spin_unlock(&die->slot->info_lock);
}

void bs_info_cache(struct bs_die *die, u32 flag)
{
	spin_lock(&die->slot->info_lock);
	die->info.flags &= ~(BS_DIE_F_BAR1_WC | BS_DIE_F_BAR1_UC);
	die->info.flags |= flag;
	spin_unlock(&die->slot->info_lock);
}

void bs_info_swapped(struct bs_die *die, bool in)
{
	spin_lock(&die->slot->info_lock);
	if (in)
		die->info.swaps_in++;
	else
		die->info.swaps_out++;
	spin_unlock(&die->slot->info_lock);
}

void bs_info_acquired(struct bs_die *die, u64 swap_ns)
{
	spin_lock(&die->slot->info_lock);
	die->info.acquires++;
	if (swap_ns)
		die->info.last_swap_ns = swap_ns;
	spin_unlock(&die->slot->info_lock);
}

void bs_info_get(struct bs_client *client, struct bs_die *die,
		 struct bs_die_info *out)
{
	struct bs_slot *slot = die->slot;
	struct bs_lease *lease = &slot->lease;

	spin_lock(&slot->info_lock);
	*out = die->info;
	out->waiters = slot->n_waiters;
	if (slot->shown != die->id)
		out->flags &= ~(BS_DIE_F_BAR1_WC | BS_DIE_F_BAR1_UC);
	if (lease->owner && lease->die == die) {
		out->flags |= BS_DIE_F_LEASED;
		if (lease->owner == client)
			out->flags |= BS_DIE_F_LEASED_HERE;
		out->holder_pid = pid_vnr(lease->pid);
		strscpy(out->holder_comm, lease->comm, sizeof(out->holder_comm));
	}
	spin_unlock(&slot->info_lock);
}

void bs_info_query(struct bs_client *client, struct bs_query_info *out)
{
	struct bs_slot *slot = client->slot;

	memset(out, 0, sizeof(*out));
	out->n_dies = slot->n_dies;
	out->n_slots = 1;
	spin_lock(&slot->info_lock);
	out->active_die = slot->shown;
	client->seen_event = slot->event;
	spin_unlock(&slot->info_lock);
	if (out->active_die != BS_NO_DIE)
		out->mapped[out->active_die] = 1;
}

bool bs_info_changed(struct bs_client *client)
{
	bool changed;

	spin_lock(&client->slot->info_lock);
	changed = client->seen_event != client->slot->event;
	spin_unlock(&client->slot->info_lock);
	return changed;
}

u64 bs_info_generation(struct bs_die *die)
{
	u64 gen;

	spin_lock(&die->slot->info_lock);
	gen = die->info.generation;
	spin_unlock(&die->slot->info_lock);
	return gen;
}
