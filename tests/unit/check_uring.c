// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether io_uring can be had, and what may wait in it. */
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/uring.h"

/* all there, on a backend without a slot */
static const struct uring_facts fine = {
	.is_built = true,
	.libfuse = "3.18.3",
	.has_liburing = true,
	.kernel = 'Y',
};

static const struct {
	const char *version;
	bool is_enough;
} versions[] = {
	{ "3.10.5", false }, { "3.14.0", false }, { "3.17.4", false },
	{ "3.18.0", false }, { "3.18.2", false }, { "3.18.3", true },
	{ "3.18.10", true }, { "3.19.0", true },  { "3.100.0", true },
	{ "4.0.0", true },   { "3.9.9", false },  { "2.9.9", false },
};

START_TEST(version_before_the_repaired_one_is_not_enough)
{
	ck_assert_msg(uring_is_new_enough(versions[_i].version) ==
			      versions[_i].is_enough,
		      "%s", versions[_i].version);
}
END_TEST

START_TEST(nothing_in_the_way_gives_no_obstacle)
{
	struct uring_facts f = fine;

	ck_assert_ptr_null(uring_obstacle(&f));
	f.has_depth = true;
	ck_assert_ptr_null(uring_obstacle(&f));
	f.has_slot = true;
	ck_assert_ptr_null(uring_obstacle(&f));
}
END_TEST

/* Only one thing is in the way each time, and the text names it. */
START_TEST(obstacle_names_what_is_missing)
{
	struct uring_facts f = fine;
	const char *word[] = { "3.18.3",     "3.18.3",       "liburing",
			       "Linux 6.14", "enable_uring", "enable_uring",
			       "take turns", "compute" };
	const char *said;

	f.is_built = _i != 0;
	f.libfuse = _i == 1 ? "3.18.2" : "3.18.3";
	f.has_liburing = _i != 2;
	f.kernel = _i == 3 ? '\0' : _i == 4 ? 'N' : _i == 5 ? '0' : 'Y';
	f.has_slot = _i == 6;
	f.has_compute = _i == 7;
	f.has_depth = _i == 7;
	said = uring_obstacle(&f);
	ck_assert_ptr_nonnull(said);
	ck_assert_msg(strstr(said, word[_i]) != NULL, "%s", said);
	ck_assert_ptr_null(strchr(said, '\n'));
}
END_TEST

START_TEST(some_entries_are_never_waited_in)
{
	struct uring_queue q = { .depth = URING_DEPTH };
	unsigned int n = 0;

	while (uring_wait(&q, false))
		ck_assert_uint_lt(++n, URING_DEPTH);
	ck_assert_uint_eq(n, URING_DEPTH - URING_SPARE);
	ck_assert(!uring_wait(&q, false));
	ck_assert_uint_eq(q.waiting, n);
}
END_TEST

START_TEST(long_work_finds_an_entry_when_no_more_may_wait)
{
	struct uring_queue q = { .depth = URING_DEPTH };

	while (uring_wait(&q, false))
		;
	ck_assert(uring_wait(&q, true));
	ck_assert(!uring_wait(&q, true));
	ck_assert_uint_eq(q.waiting, URING_DEPTH - URING_SPARE_LONG);
}
END_TEST

START_TEST(something_may_wait_at_the_smallest_depth)
{
	struct uring_queue q = { .depth = URING_DEPTH_MIN };

	ck_assert(uring_wait(&q, false));
}
END_TEST

START_TEST(answered_request_makes_room_for_one)
{
	struct uring_queue q = { .depth = URING_DEPTH };

	while (uring_wait(&q, false))
		;
	uring_wait_end(&q);
	ck_assert(uring_wait(&q, false));
	ck_assert(!uring_wait(&q, false));
}
END_TEST

Suite *uring_suite(void)
{
	Suite *suite = suite_create("uring");
	TCase *choice = tcase_create("choice");
	TCase *queue = tcase_create("queue");

	tcase_add_loop_test(choice, version_before_the_repaired_one_is_not_enough,
			    0, ARRAY_SIZE(versions));
	tcase_add_test(choice, nothing_in_the_way_gives_no_obstacle);
	tcase_add_loop_test(choice, obstacle_names_what_is_missing, 0, 8);
	suite_add_tcase(suite, choice);

	tcase_add_test(queue, some_entries_are_never_waited_in);
	tcase_add_test(queue, long_work_finds_an_entry_when_no_more_may_wait);
	tcase_add_test(queue, something_may_wait_at_the_smallest_depth);
	tcase_add_test(queue, answered_request_makes_room_for_one);
	suite_add_tcase(suite, queue);
	return suite;
}
