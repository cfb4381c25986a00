// SPDX-License-Identifier: GPL-2.0-or-later
#include "axes.h"

#include <stddef.h>

const char *const law_slot_names[N_SLOTS] = { "vacant", "asked", "another" };
const char *const law_holder_names[N_HOLDERS] = { "none", "me", "other" };
const char *const law_cond_names[N_CONDS] = {
	"ok",      "driver",  "dead",     "no_vram",
	"virtual", "removed", "unusable", "driver+virtual",
};
const char *const law_call_names[N_CALLS] = {
	"acquire",     "acquire+nowait", "acquire+lease", "acquire+force",
	"acquire+sbr", "release",        "release+force", "unlease",
	"check",       "info",           "touch",
};

/* The next digit of @i in base @n; @i keeps the rest. */
static unsigned int digit(unsigned int *i, unsigned int n)
{
	unsigned int d = *i % n;

	*i /= n;
	return d;
}

struct law_case law_case_at(unsigned int i)
{
	struct law_case c;

	c.has_cap = digit(&i, 2);
	c.call = digit(&i, N_CALLS);
	c.holder = digit(&i, N_HOLDERS);
	c.slot = digit(&i, N_SLOTS);
	c.another = digit(&i, N_CONDS);
	c.asked = digit(&i, N_CONDS);
	return c;
}

static bool is_never_in(enum law_cond cond)
{
	return cond == COND_REMOVED || cond == COND_UNUSABLE;
}

const char *law_why_dropped(const struct law_case *c)
{
	if (c->slot != SLOT_ANOTHER && c->another != COND_OK)
		return "no other die is in that could have a condition";
	if (c->slot == SLOT_VACANT && c->holder != HOLDER_NONE)
		return "a lease needs a die that is in";
	if (c->slot == SLOT_ASKED && is_never_in(c->asked))
		return "a removed or unusable die is not in";
	if (c->slot == SLOT_ANOTHER && is_never_in(c->another))
		return "a removed or unusable die is not in";
	return NULL;
}
