// SPDX-License-Identifier: GPL-2.0-or-later
/* The text for Prometheus: every line is what the format wants. */
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/metrics.h"

#define N_DIES 16

static struct metrics_die dies[N_DIES];
static uint64_t counts[METRICS_BUCKETS + 1];
static char text[METRICS_MAX];

static void setup(void)
{
	memset(dies, 0, sizeof(dies));
	memset(counts, 0, sizeof(counts));
}

static size_t render(unsigned int n_dies, uint64_t swap_ns)
{
	struct metrics m = { n_dies, dies, counts, swap_ns, 12 };
	size_t len = metrics_text(&m, text);

	ck_assert_uint_eq(len, strlen(text));
	return len;
}

static bool has_line(const char *line)
{
	size_t len = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p++)
		if ((p == text || p[-1] == '\n') && p[len] == '\n')
			return true;
	return false;
}

START_TEST(numbers_are_those_of_their_die)
{
	dies[0].in_slot = dies[1].alive = true;
	dies[1].read_bytes = 4097;
	dies[1].wait_ns = 1500000000;
	dies[1].slot_ns = 2000000003;
	dies[1].waiting = 3;
	dies[1].errors = UINT64_MAX;
	dies[0].mem_files = 7;
	dies[1].mem_bytes = 2097152;
	render(2, 0);
	ck_assert(has_line("k80fs_die_in_slot{die=\"0\"} 1"));
	ck_assert(has_line("k80fs_die_in_slot{die=\"1\"} 0"));
	ck_assert(has_line("k80fs_die_alive{die=\"1\"} 1"));
	ck_assert(has_line("k80fs_die_read_bytes_total{die=\"0\"} 0"));
	ck_assert(has_line("k80fs_die_read_bytes_total{die=\"1\"} 4097"));
	ck_assert(has_line("k80fs_die_wait_seconds_total{die=\"1\"} 1.500000000"));
	ck_assert(has_line("k80fs_die_waiting_requests{die=\"1\"} 3"));
	ck_assert(has_line(
		"k80fs_die_errors_total{die=\"1\"} 18446744073709551615"));
	ck_assert(has_line("k80fs_die_mem_files{die=\"0\"} 7"));
	ck_assert(has_line("k80fs_die_mem_bytes{die=\"1\"} 2097152"));
	ck_assert(has_line("k80fs_die_slot_seconds_total{die=\"1\"} 2.000000003"));
	ck_assert_ptr_null(strstr(text, "die=\"2\""));
}
END_TEST

START_TEST(buckets_of_swaps_add_up)
{
	ck_assert_uint_eq(metrics_bucket(0), 0);
	ck_assert_uint_eq(metrics_bucket(100000), 0);
	ck_assert_uint_eq(metrics_bucket(100001), 1);
	ck_assert_uint_eq(metrics_bucket(5 * NSEC_PER_SEC), METRICS_BUCKETS - 1);
	ck_assert_uint_eq(metrics_bucket(UINT64_MAX), METRICS_BUCKETS);
	counts[metrics_bucket(700000)] = 2;
	counts[metrics_bucket(150 * NSEC_PER_MSEC)] = 3;
	counts[METRICS_BUCKETS] = 1;
	render(1, 7 * NSEC_PER_SEC + 5);
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"0.0005\"} 0"));
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"0.001\"} 2"));
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"0.1\"} 2"));
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"0.2\"} 5"));
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"5\"} 5"));
	ck_assert(has_line("k80fs_swap_seconds_bucket{le=\"+Inf\"} 6"));
	ck_assert(has_line("k80fs_swap_seconds_sum 7.000000005"));
	ck_assert(has_line("k80fs_swap_seconds_count 6"));
	ck_assert(has_line("k80fs_age_seconds 0.000000012"));
}
END_TEST

START_TEST(every_line_is_of_the_format_and_the_longest_text_fits)
{
	regex_t line;
	char *save, *p;

	memset(dies, 0xff, sizeof(dies));
	for (unsigned int die = 0; die < N_DIES; die++)
		dies[die].in_slot = dies[die].alive = true;
	ck_assert_uint_lt(render(N_DIES, UINT64_MAX), METRICS_MAX - 1);
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	ck_assert_int_eq(regcomp(&line,
				 "^(# HELP k80fs_[a-z_]+ [A-Z].*[.]"
				 "|# TYPE k80fs_[a-z_]+ (counter|gauge|histogram)"
				 "|k80fs_[a-z_]+([{](die|le)=\"[0-9.+Inf]+\"[}])? "
				 "[0-9]+([.][0-9]+)?)$",
				 REG_EXTENDED | REG_NOSUB),
			 0);
	for (p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		ck_assert_msg(!regexec(&line, p, 0, NULL, 0), "%s", p);
	regfree(&line);
}
END_TEST

Suite *metrics_suite(void)
{
	Suite *suite = suite_create("metrics");
	TCase *tcase = tcase_create("text");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, numbers_are_those_of_their_die);
	tcase_add_test(tcase, buckets_of_swaps_add_up);
	tcase_add_test(tcase,
		       every_line_is_of_the_format_and_the_longest_text_fits);
	suite_add_tcase(suite, tcase);
	return suite;
}
