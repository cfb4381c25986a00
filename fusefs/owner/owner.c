/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of it: opened, and ended in order.
 */
#include "owner/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/kernels.h"
#include "owner/minor.h"
#include "owner/priv.h"

/* six dies, each with a swap and the driver's teardown, side by side */
#define END_ALL_NS (60 * NSEC_PER_SEC)

const char *owner_builtin(void)
{
	return kernels_ptx;
}

static void on_step(void *arg, unsigned int die, const char *line)
{
	owner_say(arg, die, "%s", line);
}

static int open_bind(struct owner *o)
{
	const struct bind_env env = {
		.sysfs = "/sys",
		.gpus = MINOR_GPUS,
		.dev = "/dev",
		.modprobe = "modprobe",
		.rmmod = "rmmod",
		.n_dies = o->cfg.n_dies,
		.bdf = o->cfg.bdf,
		.step = on_step,
		.arg = o,
	};

	return o->cfg.node ? bind_open(&o->bind, &env) : 0;
}

int owner_open(struct owner **out, const struct owner_config *cfg)
{
	struct owner *o;
	int ret;

	if (!cfg->n_dies || cfg->n_dies > OWNER_MAX_DIES ||
	    (cfg->node && (!cfg->bdf || cfg->lease_fd < 0)))
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->cfg = *cfg;
	/* the module's dies are devices of their own */
	if (cfg->node)
		o->cfg.is_streams = false;
	ret = open_bind(o);
	if (ret) {
		free(o);
		return ret;
	}
	pthread_mutex_init(&o->lock, NULL);
	for (unsigned int die = 0; die < cfg->n_dies; die++) {
		struct owner_group *g = &o->groups[die];
		struct owner_die *d = &o->dies[die];

		g->owner = o;
		g->first = die;
		g->memory = -1;
		pthread_mutex_init(&g->lock, NULL);
		d->group = o->cfg.is_streams ? &o->groups[0] : g;
		pthread_mutex_init(&d->lock, NULL);
		d->view.device = -1;
		d->view.verified = -1;
	}
	*out = o;
	return 0;
}

/* All are told first: they take the slot one after another. */
static int end_workers(struct owner *o)
{
	uint64_t deadline = now_ns() + END_ALL_NS;
	int ret = 0;

	for (unsigned int die = 0; die < o->cfg.n_dies; die++)
		owner_tell_end(&o->groups[die]);
	for (unsigned int die = 0; die < o->cfg.n_dies; die++)
		if (owner_await_end(&o->groups[die], deadline))
			ret = -ETIMEDOUT;
	return ret;
}

int owner_free(struct owner *o)
{
	int ret;

	if (!o)
		return 0;
	ret = end_workers(o);
	if (o->bind)
		bind_close(o->bind);
	for (unsigned int die = 0; die < o->cfg.n_dies; die++) {
		struct owner_group *g = &o->groups[die];

		if (g->memory >= 0) {
			size_t n = o->cfg.is_streams ? o->cfg.n_dies : 1;

			munmap(g->shared, n * sizeof(*g->shared));
			close(g->memory);
		}
		owner_lose_ranges(&o->dies[die]);
		pthread_mutex_destroy(&g->lock);
		pthread_mutex_destroy(&o->dies[die].lock);
	}
	pthread_mutex_destroy(&o->lock);
	free(o);
	return ret;
}
