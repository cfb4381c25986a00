// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulator as a device: open, close and all that asks, not changes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dev_sim_ctl.h"
#include "lib/dev_sim_mem.h"
#include "lib/dev_sim_opt.h"
#include "lib/dev_sim_slot.h"
#include "lib/dev_sim_sock.h"
#include "lib/dev_sim_tell.h"
#include "lib/dev_sim_turn.h"

static struct sim *to_sim(struct bs_dev *dev)
{
	return container_of(dev, struct sim, dev);
}

static void sim_close(struct bs_dev *dev)
{
	struct sim *s = to_sim(dev);

	sim_sock_close(s->sock);
	sim_event_close(s);
	sim_mem_close(s);
	pthread_mutex_destroy(&s->lock.mutex);
	free(s);
}

static int sim_query(struct bs_dev *dev, bool rearm, struct bs_dev_slot *slot)
{
	struct sim *s = to_sim(dev);

	slot->n_dies = s->n_dies;
	slot->n_slots = 1;
	sim_take(s);
	slot->active = s->active;
	if (rearm)
		sim_event_rearm_locked(s);
	sim_drop(s);
	return 0;
}

static int sim_acquire(struct bs_dev *dev, int die, unsigned int flags,
		       struct bs_dev_bar1 *bar1)
{
	struct sim *s = to_sim(dev);
	int ret = sim_slot_acquire(s, &s->die[die], flags);

	if (ret)
		return ret;
	sim_tell_bar1(s, bar1);
	return 0;
}

static int sim_release(struct bs_dev *dev, int die, unsigned int flags)
{
	struct sim *s = to_sim(dev);

	return sim_slot_release(s, &s->die[die], flags);
}

static int sim_unlease(struct bs_dev *dev, int die)
{
	struct sim *s = to_sim(dev);

	sim_take(s);
	if (s->lease_die == die && s->leased_here)
		sim_lease_end_locked(s);
	sim_drop(s);
	return 0;
}

static int sim_check(struct bs_dev *dev, int die, struct bs_health *health)
{
	struct sim *s = to_sim(dev);

	return sim_slot_check(s, &s->die[die], health);
}

static int sim_info(struct bs_dev *dev, int id, struct bs_info *info)
{
	struct sim *s = to_sim(dev);

	sim_tell_info(s, &s->die[id], info);
	return 0;
}

static int sim_map(struct bs_dev *dev, int id, void **addr, size_t *len)
{
	struct sim *s = to_sim(dev);
	bool is_mapped;

	sim_take(s);
	/* as the module's mmap: BAR1 does not show its memory */
	if (sim_state_locked(s, &s->die[id]) != BS_STATE_NO_VRAM)
		s->die[id].is_mapped = true;
	is_mapped = s->die[id].is_mapped;
	sim_drop(s);
	if (!is_mapped)
		return -EIO;
	*addr = s->die[id].addr;
	*len = s->region.usemem_len;
	return 0;
}

static int sim_zero(struct bs_dev *dev, int id, uint64_t off, uint64_t len)
{
	struct sim *s = to_sim(dev);
	struct sim_die *die = &s->die[id];
	int ret = sim_slot_access(s, die);

	return ret ? ret : sim_mem_zero(die, off, len);
}

static int sim_poll_fd(struct bs_dev *dev)
{
	return to_sim(dev)->poll_fd;
}

static int sim_mem_fd(struct bs_dev *dev, int die)
{
	return to_sim(dev)->die[die].fd;
}

static int sim_order(struct bs_dev *dev, const char *order)
{
	return sim_ctl_order(to_sim(dev), order);
}

static const struct bs_dev_ops sim_ops = {
	.name = "sim",
	.is_wc = false,
	.close = sim_close,
	.query = sim_query,
	.acquire = sim_acquire,
	.release = sim_release,
	.unlease = sim_unlease,
	.check = sim_check,
	.info = sim_info,
	.map = sim_map,
	.zero = sim_zero,
	.mem_fd = sim_mem_fd,
	.poll_fd = sim_poll_fd,
	.order = sim_order,
};

static void init_die(struct sim_die *die, int id)
{
	/* two dies a card, cards four buses apart: 03 04 07 08 0b 0c ... */
	int bus = 3 + 4 * (id / 2) + id % 2;

	die->id = id;
	die->fd = -1;
	die->bar1_mode = BS_MODE_UNKNOWN;
	die->is_alive = true;
	die->has_vram = true;
	snprintf(die->bdf, sizeof(die->bdf), "0000:%02x:00.0", bus & 0xff);
}

static int open_conf(const struct sim_conf *conf, struct bs_dev **dev)
{
	struct sim *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	ret = bs_region_compute(conf->vram_bytes, conf->resmem_bytes, &s->region);
	if (ret) {
		free(s);
		return ret;
	}
	s->dev.ops = &sim_ops;
	s->n_dies = conf->n_dies;
	s->vram_bytes = conf->vram_bytes;
	s->swap_us = conf->swap_us;
	s->active = -1;
	s->dir_fd = -1;
	s->empty_fd = -1;
	s->poll_fd = -1;
	s->event_fd = -1;
	s->lease_die = -1;
	pthread_mutex_init(&s->lock.mutex, NULL);
	for (unsigned int i = 0; i < s->n_dies; i++)
		init_die(&s->die[i], (int)i);

	sim_event_open(s);
	ret = sim_mem_open(s, conf->dir);
	if (!ret && *conf->ctl)
		ret = sim_sock_open(s, conf->ctl, &s->sock);
	if (ret) {
		sim_close(&s->dev);
		return ret;
	}
	*dev = &s->dev;
	return 0;
}

int dev_sim_open(const char *options, struct bs_dev **dev)
{
	struct sim_conf *conf = malloc(sizeof(*conf));
	int ret;

	if (!conf)
		return -ENOMEM;
	ret = sim_parse_conf(options, conf);
	if (!ret)
		ret = open_conf(conf, dev);
	free(conf);
	return ret;
}
