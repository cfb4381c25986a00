// SPDX-License-Identifier: GPL-2.0-or-later
/* The address space of mem files, held against a map of units. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "mem/extent.h"
#include "suites.h"

#define UNIT    (2 * MIB)
#define FROM    3 /* units: not aligned to what is asked for */
#define TO      1027
#define N_TAKEN 64

static struct extents all;
static struct extent *owner[TO];
static unsigned int seed;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

static void setup(void)
{
	memset(owner, 0, sizeof(owner));
	seed = 1;
	ck_assert_int_eq(extents_init(&all, FROM * UNIT, TO * UNIT), 0);
}

static void teardown(void)
{
	extents_free(&all);
}

static struct extent *take(uint64_t units)
{
	struct extent *e = NULL;
	int ret = extent_take(&all, units * UNIT, &e);

	ck_assert(ret == 0 || ret == -ENOSPC);
	if (ret)
		return NULL;
	ck_assert_uint_eq(e->len, units * UNIT);
	ck_assert_uint_eq(e->off % e->len, 0);
	ck_assert_uint_ge(e->off, FROM * UNIT);
	ck_assert_uint_le(e->off + e->len, TO * UNIT);
	for (uint64_t i = e->off / UNIT; i < (e->off + e->len) / UNIT; i++) {
		ck_assert_ptr_null(owner[i]);
		owner[i] = e;
	}
	return e;
}

static void give(struct extent *e)
{
	for (uint64_t i = e->off / UNIT; i < (e->off + e->len) / UNIT; i++)
		owner[i] = NULL;
	extent_give(e);
}

/* In order, without gaps, and no two free ones side by side. */
static void check_list(void)
{
	uint64_t at = FROM * UNIT;

	for (struct extent *e = all.first; e; e = e->next) {
		ck_assert_uint_eq(e->off, at);
		ck_assert_uint_gt(e->len, 0);
		ck_assert(!e->next || e->next->prev == e);
		ck_assert(e->is_used || !e->next || e->next->is_used);
		at += e->len;
	}
	ck_assert_uint_eq(at, TO * UNIT);
}

START_TEST(what_is_given_back_is_one_piece_again)
{
	struct extent *a = take(1), *b = take(512), *c = take(64);

	check_list();
	give(b);
	check_list();
	give(a);
	give(c);
	ck_assert_ptr_null(all.first->next);
	check_list();
}
END_TEST

START_TEST(space_that_is_gone_is_enospc_and_changes_nothing)
{
	struct extent *a = take(512);

	ck_assert_ptr_nonnull(a);
	/* 511 units are before it, none of them aligned for as many */
	ck_assert_ptr_null(take(512));
	check_list();
	give(a);
	ck_assert_ptr_nonnull(take(512));
}
END_TEST

START_TEST(the_smallest_hole_is_taken)
{
	struct extent *a = take(64), *b = take(1), *c;

	ck_assert_ptr_nonnull(b);
	give(a);
	c = take(64);
	ck_assert_ptr_eq(owner[c->off / UNIT], c);
	/* the one that was given back, not a part of the large rest */
	ck_assert_uint_lt(c->off, 512 * UNIT);
}
END_TEST

START_TEST(random_takes_and_gives_never_overlap)
{
	struct extent *taken[N_TAKEN] = { 0 };

	for (unsigned int round = 0; round < 20000; round++) {
		unsigned int i = pick(N_TAKEN);

		if (taken[i]) {
			give(taken[i]);
			taken[i] = NULL;
		} else {
			taken[i] = take((uint64_t)1 << pick(8));
		}
		if (round % 100 == 0)
			check_list();
	}
	for (unsigned int i = 0; i < N_TAKEN; i++)
		if (taken[i])
			give(taken[i]);
	check_list();
	ck_assert_ptr_null(all.first->next);
}
END_TEST

START_TEST(length_is_the_next_power_of_two)
{
	ck_assert_uint_eq(extent_len(0, UNIT), UNIT);
	ck_assert_uint_eq(extent_len(UNIT, UNIT), UNIT);
	ck_assert_uint_eq(extent_len(UNIT + 1, UNIT), 2 * UNIT);
	ck_assert_uint_eq(extent_len(65 * MIB, 64 * MIB), 128 * MIB);
}
END_TEST

START_TEST(nothing_given_back_is_nothing)
{
	extent_give(NULL);
	check_list();
}
END_TEST

Suite *extent_suite(void)
{
	Suite *s = suite_create("extent");
	TCase *tc = tcase_create("extent");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_given_back_is_one_piece_again);
	tcase_add_test(tc, space_that_is_gone_is_enospc_and_changes_nothing);
	tcase_add_test(tc, the_smallest_hole_is_taken);
	tcase_add_test(tc, random_takes_and_gives_never_overlap);
	tcase_add_test(tc, length_is_the_next_power_of_two);
	tcase_add_test(tc, nothing_given_back_is_nothing);
	suite_add_tcase(s, tc);
	return s;
}
