// SPDX-License-Identifier: GPL-2.0-or-later
/* Which bytes of a write to ctl may run, and which are kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/lines.h"

#define MAX_STEPS 6

static struct lines lines;

static void setup(void)
{
	memset(&lines, 0, sizeof(lines));
}

static void teardown(void)
{
	lines_free(&lines);
}

/*
 * Writes to one open file, what runs at each of them, bytes that were kept
 * included, and what runs at its close.
 */
static const struct {
	const char *writes[MAX_STEPS];
	const char *runs[MAX_STEPS];
	const char *at_close; /* NULL: -EINVAL */
} cases[] = {
	{ { "pin\n" }, { "pin\n" }, "" },
	{ { "pin" }, { "pin" }, "" },
	{ { "acquire\npin" }, { "acquire\n" }, "pin" },
	{ { "acquire\npin", "\n" }, { "acquire\n", "pin\n" }, "" },
	{ { "pin", "unpin" }, { "pin", "" }, "unpin" },
	{ { "pin", "un", "pin\n" }, { "pin", "", "unpin\n" }, "" },
	{ { "pin\n", "un", "pin\nrelease" }, { "pin\n", "", "unpin\n" }, "release" },
	{ { "\n", "pin" }, { "\n", "" }, "pin" },
	{ { " ", "pin" }, { " ", "" }, "pin" },
	{ { "a", "cquire\n" }, { "a", "cquire\n" }, "" },
	/* what destroys needs its newline */
	{ { "zero" }, { "" }, NULL },
	{ { "zero", "\n" }, { "", "zero\n" }, "" },
	{ { "zero", " 1M 4K\n" }, { "", "zero 1M 4K\n" }, "" },
	{ { "  zero 1M" }, { "" }, NULL },
	{ { "zero 1M 4K" }, { "" }, NULL },
	{ { "\n\nzero", " 512M 4K\n" }, { "\n\n", "zero 512M 4K\n" }, "" },
	{ { "pin\nzero" }, { "pin\n" }, NULL },
	{ { "reset" }, { "" }, NULL },
	{ { "reset x" }, { "" }, NULL },
	{ { "\treset\t" }, { "" }, NULL },
	{ { "acquire sbr" }, { "" }, NULL },
	{ { "acquire \t sbr nowait" }, { "" }, NULL },
	{ { "acquire sbr", "\n" }, { "", "acquire sbr\n" }, "" },
	{ { "acquire" }, { "acquire" }, "" },
	{ { "acquire nowait" }, { "acquire nowait" }, "" },
	{ { "zeroes" }, { "zeroes" }, "" },
	{ { "unpin\nacquire sbr", "x\n" }, { "unpin\n", "acquire sbrx\n" }, "" },
};

/* All that runs succeeds. */
static void write_all(const char *text, const char *runs)
{
	struct lines_work w;
	size_t len = strlen(text), old = lines.len;

	ck_assert_int_eq(lines_add(&lines, text, len, ctl_needs_newline, &w), 0);
	ck_assert_uint_eq(w.run, strlen(runs));
	ck_assert_mem_eq(w.text, runs, w.run);
	ck_assert_uint_eq(w.len - w.old, len);
	ck_assert_uint_eq(w.old, old);
	ck_assert_int_eq(lines_keep(&lines, &w), 0);
	ck_assert_int_eq(lines_answer(&w, w.len, 0), (long)len);
	lines_work_free(&w);
}

START_TEST(line_runs_when_it_is_whole)
{
	const char *at_close = cases[_i].at_close;
	struct lines_work w;

	for (int i = 0; cases[_i].writes[i]; i++)
		write_all(cases[_i].writes[i], cases[_i].runs[i]);
	if (!at_close) {
		ck_assert_int_eq(lines_end(&lines, ctl_needs_newline, &w),
				 -EINVAL);
	} else {
		ck_assert_int_eq(lines_end(&lines, ctl_needs_newline, &w), 0);
		ck_assert_uint_eq(w.run, strlen(at_close));
		if (w.run)
			ck_assert_mem_eq(w.text, at_close, w.run);
		lines_work_free(&w);
	}
	/* the next close has nothing left to do */
	ck_assert_int_eq(lines_end(&lines, ctl_needs_newline, &w), 0);
	ck_assert_uint_eq(w.run, 0);
	lines_work_free(&w);
}
END_TEST

START_TEST(answer_counts_the_bytes_of_the_write_whose_lines_succeeded)
{
	struct lines_work w;

	/* kept bytes were counted with their own write */
	write_all("\nacq", "\n");
	ck_assert_int_eq(lines_add(&lines, "uire\nbogus\npin", 14, NULL, &w), 0);
	ck_assert_uint_eq(w.run, strlen("acquire\nbogus\n"));
	ck_assert_int_eq(lines_answer(&w, 0, -EIO), -EIO);
	ck_assert_int_eq(lines_answer(&w, strlen("acquire\n"), -EINVAL), 5);
	ck_assert_int_eq(lines_answer(&w, w.run, -ENOMEM), 11);
	ck_assert_int_eq(lines_answer(&w, w.len, 0), 14);
	lines_work_free(&w);
	/* a line that failed is not kept, nor what stood behind it */
	ck_assert_int_eq(lines_end(&lines, NULL, &w), 0);
	ck_assert_uint_eq(w.run, 0);
}
END_TEST

START_TEST(refused_write_takes_along_the_line_it_would_have_gone_on_with)
{
	static char big[LINES_MAX + 1];
	struct lines_work w;

	memset(big, ' ', sizeof(big));
	write_all("\nzero 1G ", "\n");
	if (_i == 0)
		ck_assert_int_eq(lines_add(&lines, "0\0", 2, NULL, &w), -EINVAL);
	else if (_i == 1)
		ck_assert_int_eq(lines_add(&lines, big, LINES_MAX + 1, NULL, &w),
				 -E2BIG);
	else
		ck_assert_int_eq(lines_add(&lines, big, LINES_MAX - 5, NULL, &w),
				 -E2BIG);
	write_all(" 4K\n", " 4K\n");
}
END_TEST

START_TEST(line_that_comes_in_pieces_may_be_as_long_as_a_write)
{
	static char big[LINES_MAX];
	struct lines_work w;

	memset(big, ' ', sizeof(big));
	write_all("\nacquire", "\n");
	big[LINES_MAX - 8] = '\n';
	ck_assert_int_eq(lines_add(&lines, big, LINES_MAX - 7, NULL, &w), 0);
	ck_assert_uint_eq(w.run, LINES_MAX);
	lines_work_free(&w);
	/* and what is behind it is another one */
	write_all("acquire", "");
	big[0] = '\n';
	ck_assert_int_eq(lines_add(&lines, big, LINES_MAX, NULL, &w), 0);
	lines_work_free(&w);
	write_all("acquire", "");
	big[0] = big[LINES_MAX - 8] = ' ';
	ck_assert_int_eq(lines_add(&lines, big, LINES_MAX - 6, NULL, &w), -E2BIG);
}
END_TEST

START_TEST(without_commands_that_need_it_any_first_write_runs)
{
	struct lines_work w;

	ck_assert_int_eq(lines_add(&lines, "zero", 4, NULL, &w), 0);
	ck_assert_uint_eq(w.run, 4);
	lines_work_free(&w);
}
END_TEST

Suite *lines_suite(void)
{
	Suite *suite = suite_create("lines");
	TCase *tc = tcase_create("lines");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, line_runs_when_it_is_whole, 0, ARRAY_SIZE(cases));
	tcase_add_test(
		tc, answer_counts_the_bytes_of_the_write_whose_lines_succeeded);
	tcase_add_loop_test(
		tc, refused_write_takes_along_the_line_it_would_have_gone_on_with,
		0, 3);
	tcase_add_test(tc, line_that_comes_in_pieces_may_be_as_long_as_a_write);
	tcase_add_test(tc, without_commands_that_need_it_any_first_write_runs);
	suite_add_tcase(suite, tc);
	return suite;
}
