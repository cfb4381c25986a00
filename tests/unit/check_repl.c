// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands of k80-owner, and lines out of whatever comes in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "owner/repl.h"
#include "suites.h"

#define N_DIES 6

static const struct {
	const char *line;
	struct repl_cmd cmd;
} good[] = {
	{ "", { .verb = REPL_BLANK } },
	{ " \t ", { .verb = REPL_BLANK } },
	{ "discover", { .verb = REPL_DISCOVER } },
	{ " \tdiscover ", { .verb = REPL_DISCOVER } },
	{ "online 0", { .verb = REPL_ONLINE } },
	{ "online\t5", { .verb = REPL_ONLINE, .die = 5 } },
	{ "online 005", { .verb = REPL_ONLINE, .die = 5 } },
	{ "probe 1", { .verb = REPL_PROBE, .die = 1 } },
	{ "offline 2", { .verb = REPL_OFFLINE, .die = 2 } },
	{ "warm 3", { .verb = REPL_WARM, .die = 3 } },
	{ "warm all", { .verb = REPL_WARM, .is_all = true } },
	{ "swap 2", { .verb = REPL_SWAP, .die = 2 } },
	{ "work 3 0 0", { .verb = REPL_WORK, .die = 3 } },
	{ "work 3 4294967295 15728640",
	  { .verb = REPL_WORK, .die = 3, .seed = UINT32_MAX, .iters = 15728640 } },
	{ "work 3 0xfFfFfFfF 1",
	  { .verb = REPL_WORK, .die = 3, .seed = UINT32_MAX, .iters = 1 } },
	{ "work 3 7 8 18446744073709551615",
	  { .verb = REPL_WORK, .die = 3, .seed = 7, .iters = 8, .delay = UINT64_MAX } },
	{ "read 4", { .verb = REPL_READ, .die = 4 } },
	{ "count", { .verb = REPL_COUNT } },
	{ "status", { .verb = REPL_STATUS } },
	{ "help", { .verb = REPL_HELP } },
	{ "shutdown", { .verb = REPL_SHUTDOWN } },
	{ "quit", { .verb = REPL_SHUTDOWN } },
};

START_TEST(parse_of_a_good_line_gives_its_command)
{
	const char *why = NULL;
	struct repl_cmd cmd;

	memset(&cmd, 0x5a, sizeof(cmd));
	ck_assert_int_eq(repl_parse(good[_i].line, strlen(good[_i].line),
				    N_DIES, &cmd, &why),
			 0);
	ck_assert_int_eq(cmd.verb, good[_i].cmd.verb);
	ck_assert_uint_eq(cmd.die, good[_i].cmd.die);
	ck_assert_int_eq(cmd.is_all, good[_i].cmd.is_all);
	ck_assert_uint_eq(cmd.seed, good[_i].cmd.seed);
	ck_assert_uint_eq(cmd.iters, good[_i].cmd.iters);
	ck_assert_uint_eq(cmd.delay, good[_i].cmd.delay);
}
END_TEST

static const char *const bad[] = {
	"discove",
	"discovers",
	"DISCOVER",
	"discover 0",
	"online",
	"online 6",
	"online -1",
	"online +1",
	"online 0x1",
	"online 1x",
	"online 1 2",
	"online 18446744073709551616",
	"online 99999999999999999999999999",
	"probe",
	"swap a",
	"work 0",
	"work 0 1",
	"work 0 1 2 3 4",
	"work 6 1 2",
	"work 0 4294967296 1",
	"work 0 1 15728641",
	"work 0 0x 1",
	"work 0 x1 1",
	"work 0 0x100000000 1",
	"work 0 1 0x1",
	"work 0x0 1 1",
	"warm",
	"warm 6",
	"warm alle",
	"online all",
	"offline",
	"work 0 1 -1",
	"work 0 1 1.5",
	"work 0 1 1 18446744073709551616",
	"read",
	"read 0 0",
	"quit now",
	"count 1",
	"\r",
	"help\r",
	"\x01\xff\xfe",
	"online \xff",
};

START_TEST(parse_of_a_bad_line_says_why_and_changes_nothing)
{
	struct repl_cmd cmd, before;
	const char *why = NULL;

	memset(&cmd, 0x5a, sizeof(cmd));
	before = cmd;
	ck_assert_int_eq(repl_parse(bad[_i], strlen(bad[_i]), N_DIES, &cmd, &why),
			 -EINVAL);
	ck_assert_ptr_nonnull(why);
	ck_assert_mem_eq(&cmd, &before, sizeof(cmd));
}
END_TEST

START_TEST(parse_of_a_nul_byte_is_refused)
{
	static const char line[] = "online 0\0";
	const char *why = NULL;
	struct repl_cmd cmd;

	ck_assert_int_eq(repl_parse(line, sizeof(line) - 1, N_DIES, &cmd, &why),
			 -EINVAL);
}
END_TEST

/* What comes out for a text: lines in [], "!" for one that was too long. */
static void feed(struct repl_input *in, const char *text, char *out)
{
	for (; *text; text++) {
		int ret = repl_push(in, *text);

		if (ret > 0)
			out += sprintf(out, "[%.*s]", (int)in->len, in->line);
		else if (ret == -E2BIG)
			out += sprintf(out, "!");
		else
			ck_assert_int_eq(ret, 0);
	}
	*out = '\0';
}

START_TEST(push_gives_each_line_once)
{
	struct repl_input in = { 0 };
	char out[256];

	feed(&in, "a\n\nbc\nd", out);
	ck_assert_str_eq(out, "[a][][bc]");
	feed(&in, "e\n", out);
	ck_assert_str_eq(out, "[de]");
	ck_assert_int_eq(repl_end(&in), 0);
}
END_TEST

START_TEST(end_gives_a_last_line_without_newline)
{
	struct repl_input in = { 0 };
	char out[256];

	feed(&in, "quit", out);
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(repl_end(&in), 1);
	ck_assert_uint_eq(in.len, 4);
	ck_assert_int_eq(repl_end(&in), 0);
}
END_TEST

START_TEST(push_drops_a_line_that_is_too_long_and_goes_on)
{
	char text[2 * REPL_MAX_LINE + 16], out[2 * REPL_MAX_LINE];
	struct repl_input in = { 0 };

	memset(text, 'x', sizeof(text));
	strcpy(text + REPL_MAX_LINE + 1, "\nok\n");
	feed(&in, text, out);
	ck_assert_str_eq(out, "![ok]");
	memset(text, 'x', sizeof(text));
	text[REPL_MAX_LINE + 50] = '\0';
	feed(&in, text, out);
	ck_assert_int_eq(repl_end(&in), -E2BIG);
	ck_assert_int_eq(repl_end(&in), 0);
}
END_TEST

START_TEST(push_takes_the_longest_line_whole)
{
	char text[REPL_MAX_LINE + 2], out[REPL_MAX_LINE + 3];
	struct repl_input in = { 0 };

	memset(text, 'x', REPL_MAX_LINE);
	strcpy(text + REPL_MAX_LINE, "\n");
	feed(&in, text, out);
	ck_assert_uint_eq(strlen(out), REPL_MAX_LINE + 2);
}
END_TEST

START_TEST(help_names_every_command)
{
	static const char *const names[] = {
		"discover", "warm D|all", "online", "offline", "probe",
		"swap",     "work",       "read",   "count",   "status",
		"help",     "shutdown",   "quit"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_ptr_nonnull(strstr(repl_help(), names[i]));
}
END_TEST

Suite *repl_suite(void)
{
	Suite *suite = suite_create("repl");
	TCase *parse = tcase_create("parse");
	TCase *lines = tcase_create("lines");

	tcase_add_loop_test(parse, parse_of_a_good_line_gives_its_command, 0,
			    ARRAY_SIZE(good));
	tcase_add_loop_test(parse,
			    parse_of_a_bad_line_says_why_and_changes_nothing, 0,
			    ARRAY_SIZE(bad));
	tcase_add_test(parse, parse_of_a_nul_byte_is_refused);
	tcase_add_test(parse, help_names_every_command);
	suite_add_tcase(suite, parse);

	tcase_add_test(lines, push_gives_each_line_once);
	tcase_add_test(lines, end_gives_a_last_line_without_newline);
	tcase_add_test(lines, push_drops_a_line_that_is_too_long_and_goes_on);
	tcase_add_test(lines, push_takes_the_longest_line_whole);
	suite_add_tcase(suite, lines);
	return suite;
}
