// SPDX-License-Identifier: GPL-2.0-or-later
/* Orders to the simulator: "dead 3". See bs_sim_order(). */
#include "lib/dev_sim_ctl.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lib/dev_sim_mem.h"
#include "lib/dev_sim_opt.h"
#include "lib/dev_sim_slot.h"
#include "lib/dev_sim_tell.h"
#include "lib/dev_sim_turn.h"

#define ORDER_MAX 128 /* bytes of an order, its NUL included */
#define WORDS_MAX 4
#define BLANKS    " \t"

/* What bs_acquire_flags() may return, and what a caller might not expect. */
static const struct sim_errno errors[] = {
	{ "EIO", EIO },       { "EBUSY", EBUSY },         { "EINVAL", EINVAL },
	{ "ENODEV", ENODEV }, { "EPERM", EPERM },         { "EINTR", EINTR },
	{ "ENOMEM", ENOMEM }, { "ETIMEDOUT", ETIMEDOUT }, { "EAGAIN", EAGAIN },
	{ "ENXIO", ENXIO },   { "EACCES", EACCES },       { "ENOSPC", ENOSPC },
};

/* An order that is well-formed so far; @arg: the words after the die. */
typedef int order_fn(struct sim *s, struct sim_die *die, char **arg);

static int order_fail(struct sim *s, struct sim_die *die, char **arg)
{
	uint64_t n;

	if (sim_parse_u64(arg[0], UINT64_MAX, &n) || !n)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (strcmp(arg[1], errors[i].name))
			continue;
		sim_take(s);
		die->fail_in = n;
		die->fail = &errors[i];
		sim_drop(s);
		return 0;
	}
	return -EINVAL;
}

/*
 * The condition of a die that is in has changed. A die that is out may be what
 * a swap brings in just now; that will see for itself and is not waited for.
 */
static int update_locked(struct sim *s, struct sim_die *die,
			 int (*look)(struct sim *s, struct sim_die *die))
	REQUIRES(s->lock);
static int update_locked(struct sim *s, struct sim_die *die,
			 int (*look)(struct sim *s, struct sim_die *die))
{
	int ret;

	if (s->active != die->id)
		return 0;
	sim_turn_take_locked(s);
	ret = look(s, die);
	sim_turn_drop_locked(s);
	return ret;
}

/* Nobody is told: who asks it will find out. */
static int set_dead(struct sim *s, struct sim_die *die, bool is_dead)
{
	int ret;

	sim_take(s);
	die->is_dead = is_dead;
	ret = update_locked(s, die, sim_slot_show_locked);
	sim_drop(s);
	return ret;
}

static int order_dead(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_dead(s, die, true);
}

static int order_revive(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_dead(s, die, false);
}

static int order_reset(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	/* first: nobody may take zeroes for what he had written */
	sim_take(s);
	die->generation++;
	sim_event_locked(s);
	sim_drop(s);
	return sim_mem_wipe(s, die);
}

static int order_driver(struct sim *s, struct sim_die *die, char **arg)
{
	size_t len = strlen(arg[0]);
	bool binds = strcmp(arg[0], "none");
	int ret;

	if (len >= sizeof(die->driver))
		return -EINVAL;
	if (die->is_gone)
		return -ENODEV;
	sim_take(s);
	memset(die->driver, 0, sizeof(die->driver));
	if (binds)
		memcpy(die->driver, arg[0], len);
	die->has_driver = binds;
	sim_event_locked(s);
	/* how a driver leaves BAR1 is not how it found it */
	ret = update_locked(
		s, die, binds ? sim_slot_show_locked : sim_slot_probe_locked);
	sim_drop(s);
	return ret;
}

static int set_virtual(struct sim *s, struct sim_die *die, bool is_virtual,
		       bool is_stuck)
{
	sim_take(s);
	die->is_bar1_virtual = is_virtual;
	die->is_bar1_stuck = is_stuck;
	sim_drop(s);
	return 0;
}

static int order_virtual(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_virtual(s, die, true, false);
}

static int order_stuck(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_virtual(s, die, true, true);
}

static int order_physical(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_virtual(s, die, false, false);
}

static int set_cold(struct sim *s, struct sim_die *die, bool is_cold)
{
	int ret;

	sim_take(s);
	die->is_cold = is_cold;
	sim_event_locked(s);
	ret = update_locked(s, die, sim_slot_probe_locked);
	sim_drop(s);
	return ret;
}

static int order_novram(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_cold(s, die, true);
}

static int order_vram(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_cold(s, die, false);
}

static int order_remove(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	sim_take(s);
	sim_turn_take_locked(s);
	if (!die->is_gone) {
		die->has_driver = false;
		memset(die->driver, 0, sizeof(die->driver));
		die->is_gone = true;
		sim_slot_lose_locked(s, die);
		sim_alive_locked(s, die, false);
		sim_error_locked(s, die, "removed");
	}
	sim_turn_drop_locked(s);
	sim_drop(s);
	return 0;
}

/* At the same place: it keeps its number. */
static int order_return(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	sim_take(s);
	if (die->is_gone)
		sim_alive_locked(s, die, true);
	die->is_gone = false;
	sim_drop(s);
	return 0;
}

/* A card has two dies behind one chain of bridges. */
static int set_unusable(struct sim *s, struct sim_die *die, bool is_unusable)
{
	int first = die->id & ~1;

	sim_take(s);
	sim_turn_take_locked(s);
	for (int id = first; id <= first + 1 && id < (int)s->n_dies; id++) {
		s->die[id].is_unusable = is_unusable;
		if (!is_unusable)
			continue;
		sim_slot_lose_locked(s, &s->die[id]);
		/* as on a card that had it from the start: never in to be asked */
		s->die[id].bar1_mode = BS_MODE_UNKNOWN;
		sim_error_locked(s, &s->die[id],
				 "unusable: a stranger is on its card");
	}
	sim_event_locked(s);
	sim_turn_drop_locked(s);
	sim_drop(s);
	return 0;
}

static int order_unusable(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_unusable(s, die, true);
}

static int order_usable(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	return set_unusable(s, die, false);
}

static int order_cap(struct sim *s, struct sim_die *die, char **arg)
{
	uint64_t n;

	(void)die;
	if (!strcmp(arg[0], "own"))
		s->cap = SIM_CAP_OWN;
	else if (sim_parse_u64(arg[0], 1, &n))
		return -EINVAL;
	else
		s->cap = n ? SIM_CAP_YES : SIM_CAP_NO;
	return 0;
}

static int order_swap_us(struct sim *s, struct sim_die *die, char **arg)
{
	uint64_t n;

	(void)die;
	if (sim_parse_u64(arg[0], SIM_SWAP_US_MAX, &n))
		return -EINVAL;
	sim_take(s);
	s->swap_us = (uint32_t)n;
	sim_drop(s);
	return 0;
}

static int order_lease(struct sim *s, struct sim_die *die, char **arg)
{
	uint64_t pid;

	if (sim_parse_u64(arg[0], INT_MAX, &pid) || !pid)
		return -EINVAL;
	return sim_slot_lease_away(s, die, (int)pid);
}

static int order_unlease(struct sim *s, struct sim_die *die, char **arg)
{
	(void)arg;
	sim_take(s);
	if (s->lease_die == die->id && s->lease_pid && !s->leased_here)
		sim_lease_end_locked(s);
	sim_drop(s);
	return 0;
}

static const struct {
	const char *word;
	bool has_die;
	unsigned int n_args; /* words after those */
	order_fn *apply;
} orders[] = {
	{ "fail", true, 2, order_fail },
	{ "dead", true, 0, order_dead },
	{ "revive", true, 0, order_revive },
	{ "reset", true, 0, order_reset },
	{ "driver", true, 1, order_driver },
	{ "virtual", true, 0, order_virtual },
	{ "stuck", true, 0, order_stuck },
	{ "physical", true, 0, order_physical },
	{ "novram", true, 0, order_novram },
	{ "vram", true, 0, order_vram },
	{ "remove", true, 0, order_remove },
	{ "return", true, 0, order_return },
	{ "unusable", true, 0, order_unusable },
	{ "usable", true, 0, order_usable },
	{ "cap", false, 1, order_cap },
	{ "swap_us", false, 1, order_swap_us },
	{ "lease", true, 1, order_lease },
	{ "unlease", true, 0, order_unlease },
};

static int find_die(struct sim *s, const char *text, struct sim_die **die)
{
	uint64_t id;

	if (sim_parse_u64(text, INT_MAX, &id))
		return -EINVAL;
	if (id >= s->n_dies)
		return -ENODEV;
	*die = &s->die[id];
	return 0;
}

/* @n_words: at least 1 */
static int run_order(struct sim *s, char **word, unsigned int n_words)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		unsigned int n_args = orders[i].n_args;
		struct sim_die *die = NULL;
		int ret;

		if (strcmp(word[0], orders[i].word))
			continue;
		if (n_words != 1 + orders[i].has_die + n_args)
			return -EINVAL;
		if (orders[i].has_die) {
			ret = find_die(s, word[1], &die);
			if (ret)
				return ret;
		}
		return orders[i].apply(s, die, word + n_words - n_args);
	}
	return -EINVAL;
}

int sim_ctl_order(struct sim *s, const char *order)
{
	char copy[ORDER_MAX], *word[WORDS_MAX], *rest = NULL;
	unsigned int n_words = 0;
	size_t len = strlen(order);

	if (len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, order, len + 1);
	for (char *next = strtok_r(copy, BLANKS, &rest); next;
	     next = strtok_r(NULL, BLANKS, &rest)) {
		if (n_words == WORDS_MAX)
			return -EINVAL;
		word[n_words++] = next;
	}
	return n_words ? run_order(s, word, n_words) : -EINVAL;
}
