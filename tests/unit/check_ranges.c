// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of bytes, held against a bitmap. */
#include <stdlib.h>
#include <string.h>

#include "engine/ranges.h"
#include "suites.h"

#define SIZE 200

static struct ranges set;
static bool map[SIZE];
static unsigned int seed;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

static void setup(void)
{
	memset(&set, 0, sizeof(set));
	memset(map, 0, sizeof(map));
}

static void teardown(void)
{
	ranges_free(&set);
}

static void add(unsigned int start, unsigned int end)
{
	ck_assert_int_eq(ranges_reserve(&set, 1), 0);
	ranges_add(&set, start, end);
	for (unsigned int i = start; i < end; i++)
		map[i] = true;
}

/* In order, none empty, none touching the next; and no others than the map. */
static void check(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < set.n; i++) {
		ck_assert_uint_lt(set.list[i].start, set.list[i].end);
		if (i)
			ck_assert_uint_gt(set.list[i].start, set.list[i - 1].end);
		for (uint64_t at = set.list[i].start; at < set.list[i].end; at++)
			ck_assert(map[at]);
		n += (unsigned int)(set.list[i].end - set.list[i].start);
	}
	for (unsigned int i = 0; i < SIZE; i++)
		n -= map[i];
	ck_assert_uint_eq(n, 0);
}

static void check_gap(unsigned int start, unsigned int end)
{
	unsigned int first = start, last;
	struct range gap;

	while (first < end && map[first])
		first++;
	ck_assert_int_eq(ranges_gap(&set, start, end, &gap), first < end);
	if (first == end)
		return;
	for (last = first; last < end && !map[last];)
		last++;
	ck_assert_uint_eq(gap.start, first);
	ck_assert_uint_eq(gap.end, last);
}

START_TEST(set_is_what_a_bitmap_says)
{
	seed = (unsigned int)_i;
	for (int step = 0; step < 2000; step++) {
		unsigned int start = pick(SIZE), len = pick(step % 9 ? 9 : 60);
		unsigned int end = start + len < SIZE ? start + len : SIZE;

		if (step % 23 == 22) {
			ranges_cut(&set, start);
			memset(map + start, 0, SIZE - start);
		} else if (step % 97 == 96) {
			teardown();
			setup();
		} else {
			add(start, end);
		}
		check();
		check_gap(pick(SIZE / 2), SIZE / 2 + pick(SIZE / 2));
		check_gap(start, end);
	}
}
END_TEST

START_TEST(writer_from_the_front_has_one_range)
{
	for (unsigned int i = 0; i < SIZE; i++) {
		add(i, i + 1);
		ck_assert_uint_eq(set.n, 1);
	}
}
END_TEST

Suite *ranges_suite(void)
{
	Suite *suite = suite_create("ranges");
	TCase *tc = tcase_create("ranges");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, set_is_what_a_bitmap_says, 0, 20);
	tcase_add_test(tc, writer_from_the_front_has_one_range);
	suite_add_tcase(suite, tc);
	return suite;
}
