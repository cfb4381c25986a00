// SPDX-License-Identifier: GPL-2.0-or-later
/* k80-top: which mounts there are, what their files say, what it makes of it. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/metrics.h"
#include "text/status.h"
#include "top/delay.h"
#include "top/find.h"
#include "top/rows.h"
#include "top/sample.h"

static struct top_sample from, to;
static struct rows rows;
static char line[ROWS_LINE_MAX];

static void setup(void)
{
	memset(&from, 0, sizeof(from));
	from.n_dies = 3;
	from.has_slot = true;
	from.mount = 7;
	from.at_ns = NSEC_PER_SEC;
	for (unsigned int die = 0; die < from.n_dies; die++) {
		strcpy(from.dies[die].state, "idle");
		strcpy(from.dies[die].hold, "none");
		strcpy(from.dies[die].holder, "none");
	}
	to = from;
	to.at_ns += 2 * NSEC_PER_SEC;
}

START_TEST(mounts_are_those_of_k80fs_each_once)
{
	static char text[] =
		"21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"30 21 0:50 / /mnt/k80 rw shared:5 - fuse.k80fs k80fs rw\n"
		"31 21 0:51 / /mnt/with\\040space\\134 rw - fuse.k80fs sim rw\n"
		"32 21 0:52 / /mnt/fuse.k80fs rw - tmpfs fuse.k80fs rw\n"
		"33 30 0:53 / /mnt/k80 rw - fuse.k80fs k80fs rw";
	FILE *f = fmemopen(text, sizeof(text) - 1, "r");
	size_t n;
	char **mounts = find_mounts(f, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(mounts[0], "/mnt/k80");
	ck_assert_str_eq(mounts[1], "/mnt/with space\\");
	find_free(mounts, n);
	fclose(f);
}
END_TEST

START_TEST(delay_is_a_number_of_seconds_and_nothing_else)
{
	static const char *const bad[] = {
		"",   "0",   "0.09", "3600.1", "1s",
		"-1", "1e2", "nan",  "inf",    ".",
		" 1", "1 ",  "0x1",  "1.2.3",  "99999999999999999999999999"
	};
	uint64_t ns = 5;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!delay_parse(bad[i], &ns) && ns == 5, "%s", bad[i]);
	ck_assert(delay_parse("2", &ns) && ns == 2 * NSEC_PER_SEC);
	ck_assert(delay_parse("0.1", &ns) && ns == NSEC_PER_SEC / 10);
	ck_assert(delay_parse(".5", &ns) && ns == NSEC_PER_SEC / 2);
	ck_assert(delay_parse("3600", &ns) && ns == 3600 * NSEC_PER_SEC);
}
END_TEST

/* What the daemon writes is what is read. */
START_TEST(every_number_of_the_metrics_comes_from_its_die)
{
	static const uint64_t counts[METRICS_BUCKETS + 1];
	static char text[METRICS_MAX];
	struct metrics_die dies[2] = { { 0 },
				       { .in_slot = true,
					 .swaps = 2,
					 .read_bytes = 3,
					 .written_bytes = UINT64_MAX,
					 .waiting = 5,
					 .errors = 6,
					 .slot_ns = 7000000008 } };

	metrics_text(&(struct metrics){ 2, dies, counts, 0, 9000000010 }, text);
	memset(&to, 0, sizeof(to));
	sample_metrics(text, &to);
	ck_assert_uint_eq(to.at_ns, 9000000010);
	ck_assert_uint_eq(to.n_dies, 2);
	ck_assert(!to.dies[0].in_slot && to.dies[1].in_slot);
	ck_assert_uint_eq(to.dies[1].swaps, 2);
	ck_assert_uint_eq(to.dies[1].read_bytes, 3);
	ck_assert_uint_eq(to.dies[1].written_bytes, UINT64_MAX);
	ck_assert_uint_eq(to.dies[1].waiting, 5);
	ck_assert_uint_eq(to.dies[1].errors, 6);
	ck_assert_uint_eq(to.dies[1].slot_ns, 7000000008);
}
END_TEST

START_TEST(die_that_there_cannot_be_is_left_out)
{
	sample_metrics("k80fs_die_alive{die=\"16\"} 1\n"
		       "k80fs_die_alive{die=\"4294967295\"} 1\n"
		       "k80fs_die_alive{die=\"2\"} 1\n",
		       &to);
	ck_assert_uint_eq(to.n_dies, 3);
}
END_TEST

START_TEST(words_of_a_status_are_cut_and_drive_no_terminal)
{
	static char text[STATUS_MAX];
	struct status_die s = {
		.bdf = "x",
		.state = "active",
		.hold = "lease",
		.holder = "123 \033[2Jm\xc3\xb6rdering the terminal"
	};

	status_die_text(&s, text);
	sample_die(text, &to.dies[0]);
	ck_assert_str_eq(to.dies[0].state, "active");
	ck_assert_str_eq(to.dies[0].hold, "lease");
	/* the daemon has made a space of the escape */
	ck_assert_str_eq(to.dies[0].holder, "123  [2Jm??rdering the terminal");
	sample_die("holder \x1b\x7f\x9b 0123456789012345678901234567890\n",
		   &to.dies[0]);
	ck_assert_str_eq(to.dies[0].holder, "??? 012345678901234567890123456");
}
END_TEST

START_TEST(root_says_whether_there_is_a_slot)
{
	static char text[STATUS_MAX];
	struct status_root s = { .backend = "cuda", .n_dies = 1 };

	s.n_slots = (unsigned int)_i;
	status_root_text(&s, text);
	sample_root(text, &to);
	ck_assert_str_eq(to.backend, "cuda");
	ck_assert_int_eq(to.has_slot, _i);
}
END_TEST

START_TEST(rates_are_of_the_time_between_two_samples)
{
	to.dies[1].read_bytes += 4096;
	to.dies[1].written_bytes += 2;
	to.dies[1].swaps += 5;
	to.dies[1].slot_ns += NSEC_PER_SEC / 2;
	to.dies[2].read_bytes += 4;
	to.dies[2].waiting = 3;
	rows_make(&from, &to, &rows);
	ck_assert(rows.has_rates);
	ck_assert(rows.seconds == 2);
	ck_assert(rows.row[1].read == 2048 && rows.row[1].written == 1);
	ck_assert(rows.row[1].swaps == 2.5 && rows.row[1].slot == 0.25);
	ck_assert(rows.row[0].read == 0 && rows.row[2].read == 2);
	ck_assert(rows.all.read == 2050);
	ck_assert_uint_eq(rows.all.die.waiting, 3);
	rows_text(&rows, 1, true, line);
	ck_assert_str_eq(line, "  1 idle       25.00           2048"
			       "              1        2.500     0"
			       "        0 none  none");
	rows_text(&rows, 1, false, line);
	ck_assert_str_eq(line, "   1 idle       25.0     2.0K        1      2.5"
			       "     0     0 none  none");
	rows_sums(&rows, true, line);
	ck_assert_str_eq(line, "swaps/s 2.500  slot% 25.00  read/s 2050  "
			       "write/s 1  waiting 3  errors 0");
}
END_TEST

/* Counters of a daemon that was started since begin at 0. */
START_TEST(another_mount_at_the_same_place_has_no_rates_yet)
{
	to.dies[0].read_bytes = 4096;
	if (_i == 0)
		to.mount++;
	else if (_i == 1)
		to.n_dies--;
	else if (_i == 2)
		to.at_ns = from.at_ns;
	rows_make(_i == 3 ? NULL : &from, &to, &rows);
	ck_assert(!rows.has_rates);
	rows_text(&rows, 0, false, line);
	ck_assert_str_eq(line, "   0 idle          -        -        -        -"
			       "     0     0 none  none");
}
END_TEST

START_TEST(counter_that_went_back_is_no_rate)
{
	from.dies[0].read_bytes = 4096;
	from.dies[0].slot_ns = 1;
	rows_make(&from, &to, &rows);
	ck_assert(rows.row[0].read == 0 && rows.row[0].slot == 0);
}
END_TEST

START_TEST(without_a_slot_there_is_no_share_of_it)
{
	to.has_slot = false;
	to.dies[0].read_bytes = 2048;
	rows_make(&from, &to, &rows);
	rows_text(&rows, 0, true, line);
	ck_assert_str_eq(line, "  0 idle           -           1024"
			       "              0            -     0"
			       "        0 none  none");
}
END_TEST

static const struct {
	uint64_t bytes; /* in two seconds */
	const char *text;
} sizes[] = {
	{ 0, " 0 " },
	{ 2, " 1 " },
	{ 2 * 1023, " 1023 " },
	{ 2 * 1024, " 1.0K " },
	{ 2 * 1536, " 1.5K " },
	{ 2 * (uint64_t)(1023.9 * 1024 * 1024), " 1023.9M " },
	{ 2 * (GIB - 1), " 1.0G " },
	{ 6 * GIB, " 3.0G " },
	{ 2048 * GIB, " 1.0T " },
	{ 2 * 5000 * 1024 * GIB, " 5000.0T " },
};

START_TEST(bytes_are_shown_with_a_unit)
{
	to.dies[0].read_bytes = sizes[_i].bytes;
	rows_make(&from, &to, &rows);
	rows_text(&rows, 0, false, line);
	ck_assert_ptr_nonnull(strstr(line, sizes[_i].text));
}
END_TEST

static const struct {
	enum rows_order order;
	bool is_reverse;
	const char *name;
	unsigned int wanted[3];
} orders[] = {
	{ ROWS_BY_DIE, false, "die", { 0, 1, 2 } },
	{ ROWS_BY_DIE, true, "die", { 2, 1, 0 } },
	{ ROWS_BY_SLOT, false, "slot", { 1, 0, 2 } },
	{ ROWS_BY_TRAFFIC, false, "traffic", { 2, 0, 1 } },
	{ ROWS_BY_TRAFFIC, true, "traffic", { 1, 0, 2 } },
	{ ROWS_BY_WAITING, false, "waiting", { 0, 1, 2 } },
};

START_TEST(rows_are_sorted_the_largest_first_and_ties_by_die)
{
	to.dies[1].slot_ns = NSEC_PER_SEC;
	to.dies[2].written_bytes = 3;
	to.dies[0].read_bytes = 2;
	to.dies[0].waiting = 1;
	rows_make(&from, &to, &rows);
	rows_sort(&rows, orders[_i].order, orders[_i].is_reverse);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_eq(rows.row[i].number, orders[_i].wanted[i]);
	ck_assert_str_eq(rows_order_name(orders[_i].order), orders[_i].name);
}
END_TEST

START_TEST(names_of_columns_stand_above_them_and_fit_in_80)
{
	static const char *const names[] = { "DIE", "STATE", "HOLD" };
	static const char *const values[] = { "2", "unusable", "lease" };
	char head[ROWS_LINE_MAX];

	strcpy(to.dies[2].state, "unusable");
	strcpy(to.dies[2].hold, "lease");
	strcpy(to.dies[2].holder, "1234567 comm");
	to.dies[2].read_bytes = 2046 * GIB;
	rows_make(&from, &to, &rows);
	rows_head(head, _i);
	rows_text(&rows, 2, _i, line);
	for (size_t i = 1; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(strstr(head, names[i]) - head,
				 strstr(line, values[i]) - line);
	ck_assert_int_eq(strstr(head, names[0]) - head + 2,
			 strstr(line, values[0]) - line);
	ck_assert_int_eq(strstr(head, "HOLDER") - head,
			 strstr(line, "1234567") - line);
	if (!_i)
		ck_assert_uint_le(strlen(line), 80);
}
END_TEST

Suite *top_suite(void)
{
	Suite *suite = suite_create("top");
	TCase *files = tcase_create("files");
	TCase *lines = tcase_create("lines");

	tcase_add_checked_fixture(files, setup, NULL);
	tcase_add_test(files, mounts_are_those_of_k80fs_each_once);
	tcase_add_test(files, delay_is_a_number_of_seconds_and_nothing_else);
	tcase_add_test(files, every_number_of_the_metrics_comes_from_its_die);
	tcase_add_test(files, die_that_there_cannot_be_is_left_out);
	tcase_add_test(files, words_of_a_status_are_cut_and_drive_no_terminal);
	tcase_add_loop_test(files, root_says_whether_there_is_a_slot, 0, 2);
	suite_add_tcase(suite, files);

	tcase_add_checked_fixture(lines, setup, NULL);
	tcase_add_test(lines, rates_are_of_the_time_between_two_samples);
	tcase_add_loop_test(
		lines, another_mount_at_the_same_place_has_no_rates_yet, 0, 4);
	tcase_add_test(lines, counter_that_went_back_is_no_rate);
	tcase_add_test(lines, without_a_slot_there_is_no_share_of_it);
	tcase_add_loop_test(lines, bytes_are_shown_with_a_unit, 0,
			    ARRAY_SIZE(sizes));
	tcase_add_loop_test(lines,
			    rows_are_sorted_the_largest_first_and_ties_by_die,
			    0, ARRAY_SIZE(orders));
	tcase_add_loop_test(
		lines, names_of_columns_stand_above_them_and_fit_in_80, 0, 2);
	suite_add_tcase(suite, lines);
	return suite;
}
