/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The axes of the table of cases, and which of their combinations there are.
 * Pure.
 */
#ifndef LAW_AXES_H
#define LAW_AXES_H

#include <stdbool.h>

/* Who is in when the call is made. */
enum law_slot {
	SLOT_VACANT,
	SLOT_ASKED, /* the die that the call is about */
	SLOT_ANOTHER,
	N_SLOTS,
};

/* Who leases the die that is in. */
enum law_holder {
	HOLDER_NONE,
	HOLDER_ME,
	HOLDER_OTHER, /* another open file */
	N_HOLDERS,
};

enum law_cond {
	COND_OK,
	COND_DRIVER,
	COND_DEAD, /* and somebody has noticed */
	COND_NO_VRAM,
	COND_VIRTUAL, /* BAR1, without a driver */
	COND_REMOVED,
	COND_UNUSABLE,
	COND_DRIVER_VIRTUAL,
	N_CONDS,
};

enum law_call {
	CALL_ACQUIRE,
	CALL_ACQUIRE_NOWAIT,
	CALL_ACQUIRE_LEASE,
	CALL_ACQUIRE_FORCE,
	CALL_ACQUIRE_SBR,
	CALL_RELEASE,
	CALL_RELEASE_FORCE,
	CALL_UNLEASE,
	CALL_CHECK,
	CALL_INFO,
	CALL_TOUCH, /* of the mapping */
	N_CALLS,
};

/**
 * struct law_case - one call in one situation
 * @asked:   condition of the die that the call is about
 * @another: of the one that is in, if that is another
 * @has_cap: the caller has CAP_SYS_RAWIO
 */
struct law_case {
	enum law_slot slot;
	enum law_holder holder;
	enum law_cond asked;
	enum law_cond another;
	bool has_cap;
	enum law_call call;
};

extern const char *const law_slot_names[N_SLOTS];
extern const char *const law_holder_names[N_HOLDERS];
extern const char *const law_cond_names[N_CONDS];
extern const char *const law_call_names[N_CALLS];

/* Combinations of all axes, also those that cannot be. */
#define LAW_PRODUCT (N_CONDS * N_CONDS * N_SLOTS * N_HOLDERS * N_CALLS * 2u)

/**
 * law_case_at() - one combination
 * @i: 0 .. LAW_PRODUCT - 1; the conditions change least often, then slot,
 *     holder, call and capability
 */
struct law_case law_case_at(unsigned int i);

/** law_why_dropped() - the rule by which a combination cannot be, or NULL */
const char *law_why_dropped(const struct law_case *c);

/** law_is_in() - is the die asked for, or another, in the slot and so */
static inline bool law_is_in(const struct law_case *c, enum law_cond cond)
{
	return (c->slot == SLOT_ASKED && c->asked == cond) ||
	       (c->slot == SLOT_ANOTHER && c->another == cond);
}

#endif /* LAW_AXES_H */
