// SPDX-License-Identifier: GPL-2.0-or-later
/* The command language: a line at a time, and a write as a whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/ctl.h"

/* a string constant and its length: lines may hold any byte */
#define TEXT(s) s, sizeof(s) - 1

/* The text in memory of its own, so that a read past its end is seen. */
static char *exact_copy(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return copy;
}

static int parse(enum ctl_scope scope, const char *line, size_t len,
		 struct ctl_cmd *cmd)
{
	char *copy = exact_copy(line, len);
	int ret = ctl_parse(scope, copy, len, cmd);

	free(copy);
	return ret;
}

#define ROOT 1
#define DIE  2

static const struct {
	const char *line;
	int scopes;
	struct ctl_cmd cmd;
} good[] = {
	{ "", ROOT | DIE, { .verb = CTL_BLANK } },
	{ " ", ROOT | DIE, { .verb = CTL_BLANK } },
	{ "\t", ROOT | DIE, { .verb = CTL_BLANK } },
	{ " \t \t", ROOT | DIE, { .verb = CTL_BLANK } },
	{ "acquire", DIE, { .verb = CTL_ACQUIRE } },
	{ " acquire ", DIE, { .verb = CTL_ACQUIRE } },
	{ "\tacquire\t", DIE, { .verb = CTL_ACQUIRE } },
	{ "acquire sbr", DIE, { .verb = CTL_ACQUIRE, .sbr = true } },
	{ "acquire \t  sbr", DIE, { .verb = CTL_ACQUIRE, .sbr = true } },
	{ "acquire nowait", DIE, { .verb = CTL_ACQUIRE, .nowait = true } },
	{ "acquire wait=0", DIE, { .verb = CTL_ACQUIRE, .has_wait = true } },
	{ "acquire wait=250",
	  DIE,
	  { .verb = CTL_ACQUIRE, .has_wait = true, .wait_ms = 250 } },
	{ "acquire wait=0250",
	  DIE,
	  { .verb = CTL_ACQUIRE, .has_wait = true, .wait_ms = 250 } },
	{ "acquire wait=86400000",
	  DIE,
	  { .verb = CTL_ACQUIRE, .has_wait = true, .wait_ms = 86400000 } },
	{ "acquire sbr nowait",
	  DIE,
	  { .verb = CTL_ACQUIRE, .sbr = true, .nowait = true } },
	{ "acquire sbr wait=1",
	  DIE,
	  { .verb = CTL_ACQUIRE, .sbr = true, .has_wait = true, .wait_ms = 1 } },
	{ "release", ROOT | DIE, { .verb = CTL_RELEASE } },
	{ "pin", DIE, { .verb = CTL_PIN } },
	{ "pin nowait", DIE, { .verb = CTL_PIN, .nowait = true } },
	{ "pin wait=7", DIE, { .verb = CTL_PIN, .has_wait = true, .wait_ms = 7 } },
	{ "lease", DIE, { .verb = CTL_LEASE } },
	{ "lease nowait", DIE, { .verb = CTL_LEASE, .nowait = true } },
	{ "lease wait=7",
	  DIE,
	  { .verb = CTL_LEASE, .has_wait = true, .wait_ms = 7 } },
	{ "unpin", DIE, { .verb = CTL_UNPIN } },
	{ "reset", DIE, { .verb = CTL_RESET } },
	{ "flush", DIE, { .verb = CTL_FLUSH } },
	{ "zero", DIE, { .verb = CTL_ZERO } },
	{ "zero 0 0", DIE, { .verb = CTL_ZERO, .has_range = true } },
	{ "zero 5 6",
	  DIE,
	  { .verb = CTL_ZERO, .has_range = true, .off = 5, .len = 6 } },
	{ "zero 1K 2M",
	  DIE,
	  { .verb = CTL_ZERO, .has_range = true, .off = KIB, .len = 2 * MIB } },
	{ "zero 3G 4T",
	  DIE,
	  { .verb = CTL_ZERO, .has_range = true, .off = 3 * GIB, .len = 4096 * GIB } },
	{ "zero 0x10 0XfF",
	  DIE,
	  { .verb = CTL_ZERO, .has_range = true, .off = 16, .len = 255 } },
	{ "zero 0xabcdef 0xABCDEF",
	  DIE,
	  { .verb = CTL_ZERO, .has_range = true, .off = 0xabcdef, .len = 0xabcdef } },
	{ "zero 18446744073709551615 0xffffffffffffffff",
	  DIE,
	  { .verb = CTL_ZERO,
	    .has_range = true,
	    .off = UINT64_MAX,
	    .len = UINT64_MAX } },
	{ "zero 17179869183G 16777215T",
	  DIE,
	  { .verb = CTL_ZERO,
	    .has_range = true,
	    .off = 17179869183ULL << 30,
	    .len = 16777215ULL << 40 } },
	{ "timeslice auto", ROOT, { .verb = CTL_TIMESLICE } },
	{ "timeslice 1", ROOT, { .verb = CTL_TIMESLICE, .slice_ms = 1 } },
	{ "timeslice 10000", ROOT, { .verb = CTL_TIMESLICE, .slice_ms = 10000 } },
};

static void assert_same(const struct ctl_cmd *a, const struct ctl_cmd *b)
{
	ck_assert_int_eq(a->verb, b->verb);
	ck_assert_int_eq(a->sbr, b->sbr);
	ck_assert_int_eq(a->nowait, b->nowait);
	ck_assert_int_eq(a->has_wait, b->has_wait);
	ck_assert_uint_eq(a->wait_ms, b->wait_ms);
	ck_assert_int_eq(a->has_range, b->has_range);
	ck_assert_uint_eq(a->off, b->off);
	ck_assert_uint_eq(a->len, b->len);
	ck_assert_uint_eq(a->slice_ms, b->slice_ms);
}

/* With and without its newline, in the files that know the command. */
START_TEST(parse_command_gives_its_fields)
{
	const char *line = good[_i].line;
	size_t len = strlen(line);
	char with_newline[64];

	memcpy(with_newline, line, len);
	with_newline[len] = '\n';
	for (enum ctl_scope scope = CTL_SCOPE_ROOT; scope <= CTL_SCOPE_DIE;
	     scope++) {
		struct ctl_cmd cmd;
		bool is_known = good[_i].scopes &
				(scope == CTL_SCOPE_ROOT ? ROOT : DIE);

		for (size_t n = len; n <= len + 1; n++) {
			int want = is_known ? 0 : -EINVAL;

			memset(&cmd, 0x5a, sizeof(cmd));
			ck_assert_msg(parse(scope, with_newline, n, &cmd) == want,
				      "'%s' in scope %d", line, scope);
			if (is_known)
				assert_same(&cmd, &good[_i].cmd);
		}
	}
}
END_TEST

static const struct {
	const char *line;
	size_t len;
} bad[] = {
	{ TEXT("foo") },
	{ TEXT("Acquire") },
	{ TEXT("ACQUIRE") },
	{ TEXT("acquir") },
	{ TEXT("acquires") },
	{ TEXT("acquire,sbr") },
	{ TEXT("acquire;release") },
	{ TEXT("acquire release") },
	{ TEXT("acquire foo") },
	{ TEXT("acquire 0") },
	{ TEXT("acquire 0x") },
	{ TEXT("acquire wait") },
	{ TEXT("acquire wait=") },
	{ TEXT("acquire wait= 1") },
	{ TEXT("acquire wait =1") },
	{ TEXT("acquire wait=1x") },
	{ TEXT("acquire wait=x1") },
	{ TEXT("acquire wait=0x1") },
	{ TEXT("acquire wait=-1") },
	{ TEXT("acquire wait=+1") },
	{ TEXT("acquire wait=1.5") },
	{ TEXT("acquire wait=1K") },
	{ TEXT("acquire wait=86400001") },
	{ TEXT("acquire wait=4294967296") },
	{ TEXT("acquire wait=18446744073709551616") },
	{ TEXT("acquire wait=18446744073709551617") },
	{ TEXT("acquire Wait=1") },
	{ TEXT("acquire nowait=1") },
	{ TEXT("acquire nowaits") },
	{ TEXT("acquire no wait") },
	{ TEXT("acquire nowait nowait") },
	{ TEXT("acquire nowait wait=1") },
	{ TEXT("acquire wait=1 nowait") },
	{ TEXT("acquire wait=1 wait=1") },
	{ TEXT("acquire sbr sbr") },
	{ TEXT("acquire nowait sbr") },
	{ TEXT("acquire wait=1 sbr") },
	{ TEXT("acquire sbr nowait wait=1") },
	{ TEXT("acquire sbr nowait x") },
	{ TEXT("acquire sbr wait=1 wait=1 wait=1 wait=1") },
	{ TEXT("release now") },
	{ TEXT("release nowait") },
	{ TEXT("release 0") },
	{ TEXT("pin sbr") },
	{ TEXT("pin pin") },
	{ TEXT("pin wait=") },
	{ TEXT("pin nowait nowait") },
	{ TEXT("lease sbr") },
	{ TEXT("lease lease") },
	{ TEXT("lease wait=1 2") },
	{ TEXT("unpin unpin") },
	{ TEXT("unpin nowait") },
	{ TEXT("reset sbr") },
	{ TEXT("reset nowait") },
	{ TEXT("flush all") },
	{ TEXT("zero 1") },
	{ TEXT("zero 1 2 3") },
	{ TEXT("zero 1 2 3 4") },
	{ TEXT("zero nowait") },
	{ TEXT("zero - 1") },
	{ TEXT("zero -1 1") },
	{ TEXT("zero +1 1") },
	{ TEXT("zero 1 x") },
	{ TEXT("zero 1x 1") },
	{ TEXT("zero K 1") },
	{ TEXT("zero 1k 1") },
	{ TEXT("zero 1KK 1") },
	{ TEXT("zero 1P 1") },
	{ TEXT("zero 1KiB 1") },
	{ TEXT("zero 1.5K 1") },
	{ TEXT("zero 0x 1") },
	{ TEXT("zero 1 0x") },
	{ TEXT("zero x10 1") },
	{ TEXT("zero 00x10 1") },
	{ TEXT("zero 0xg 1") },
	{ TEXT("zero 0x10K 1") },
	{ TEXT("zero 0x1 0x10000000000000000") },
	{ TEXT("zero 0x00000000000000001ffffffffffffffff 1") },
	/* one bit away from the digits and letters of a hexadecimal number */
	{ TEXT("zero 0x\x11 1") },
	{ TEXT("zero 0x1 0x2\x10") },
	{ TEXT("zero 0x\x19\x19 1") },
	{ TEXT("zero 0x! 1") },
	{ TEXT("zero 0x@ 1") },
	{ TEXT("zero 18446744073709551616 1") },
	{ TEXT("zero 1 99999999999999999999") },
	{ TEXT("zero 18014398509481984K 1") },
	{ TEXT("zero 17592186044416M 1") },
	{ TEXT("zero 17179869184G 1") },
	{ TEXT("zero 16777216T 1") },
	{ TEXT("timeslice") },
	{ TEXT("timeslice 0") },
	{ TEXT("timeslice 10001") },
	{ TEXT("timeslice 4294967297") },
	{ TEXT("timeslice 5ms") },
	{ TEXT("timeslice -5") },
	{ TEXT("timeslice 0x5") },
	{ TEXT("timeslice Auto") },
	{ TEXT("timeslice auto auto") },
	{ TEXT("timeslice 5 5") },
	{ TEXT("timeslice=5") },
	/* only spaces and tabs part words */
	{ TEXT("acquire\r") },
	{ TEXT("acquire\r\n") },
	{ TEXT("\r\n") },
	{ TEXT("acquire\vsbr") },
	{ TEXT("acquire\fsbr") },
	{ TEXT("acquire\xa0sbr") },
	{ TEXT("\xef\xbb\xbf"
	       "acquire") },
	/* a NUL is not the end of a line */
	{ TEXT("acquire\0") },
	{ TEXT("acquire \0sbr") },
	{ TEXT("\0acquire") },
	{ TEXT("\0") },
	{ TEXT("acquire wait=1\0") },
	{ TEXT("zero 0x1\0 1") },
	{ TEXT("zero 1\0 1") },
};

START_TEST(parse_malformed_returns_einval_and_changes_nothing)
{
	for (enum ctl_scope scope = CTL_SCOPE_ROOT; scope <= CTL_SCOPE_DIE;
	     scope++) {
		struct ctl_cmd cmd, before;

		memset(&cmd, 0x5a, sizeof(cmd));
		before = cmd;
		ck_assert_msg(parse(scope, bad[_i].line, bad[_i].len, &cmd) ==
				      -EINVAL,
			      "'%s' in scope %d", bad[_i].line, scope);
		ck_assert_mem_eq(&cmd, &before, sizeof(cmd));
	}
}
END_TEST

START_TEST(parse_longest_write_as_one_line)
{
	struct ctl_cmd cmd;
	char *line = malloc(CTL_MAX_WRITE);

	memset(line, ' ', CTL_MAX_WRITE);
	memcpy(line + CTL_MAX_WRITE - 7, "acquire", 7);
	ck_assert_int_eq(ctl_parse(CTL_SCOPE_DIE, line, CTL_MAX_WRITE, &cmd), 0);
	ck_assert_int_eq(cmd.verb, CTL_ACQUIRE);
	memset(line, 'a', CTL_MAX_WRITE);
	ck_assert_int_eq(ctl_parse(CTL_SCOPE_DIE, line, CTL_MAX_WRITE, &cmd),
			 -EINVAL);
	for (size_t i = 1; i < CTL_MAX_WRITE; i += 2)
		line[i] = ' ';
	ck_assert_int_eq(ctl_parse(CTL_SCOPE_DIE, line, CTL_MAX_WRITE, &cmd),
			 -EINVAL);
	free(line);
}
END_TEST

START_TEST(check_write_of_4096_bytes_passes_and_4097_gives_e2big)
{
	char *text = malloc(CTL_MAX_WRITE + 1);

	ck_assert_int_eq(CTL_MAX_WRITE, 4096);
	memset(text, '\n', CTL_MAX_WRITE + 1);
	ck_assert_int_eq(ctl_check(text, CTL_MAX_WRITE), 0);
	ck_assert_int_eq(ctl_check(text, CTL_MAX_WRITE + 1), -E2BIG);
	ck_assert_int_eq(ctl_check(text, 0), 0);
	free(text);
}
END_TEST

START_TEST(check_nul_byte_anywhere_returns_einval)
{
	static const size_t at[] = { 0, 1, 4094, 4095 };
	char *text = malloc(CTL_MAX_WRITE);

	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		memset(text, ' ', CTL_MAX_WRITE);
		text[at[i]] = '\0';
		ck_assert_int_eq(ctl_check(text, CTL_MAX_WRITE), -EINVAL);
	}
	/* what lies behind the write does not count */
	ck_assert_int_eq(ctl_check(text, 4095), 0);
	free(text);
}
END_TEST

static const struct {
	const char *text;
	size_t len;
	size_t lines[5]; /* 0 ends them */
} splits[] = {
	{ TEXT(""), { 0 } },
	{ TEXT("\n"), { 1 } },
	{ TEXT("pin"), { 3 } },
	{ TEXT("pin\n"), { 4 } },
	{ TEXT("pin\nunpin"), { 4, 5 } },
	{ TEXT("pin\n\n \nunpin\n"), { 4, 1, 2, 6 } },
	{ TEXT("\n\n\n"), { 1, 1, 1 } },
	{ TEXT("pin\r\nx"), { 5, 1 } },
	{ TEXT("a\0b\nc"), { 4, 1 } },
};

START_TEST(line_lengths_add_up_to_the_text)
{
	char *text = exact_copy(splits[_i].text, splits[_i].len);
	size_t pos = 0, i = 0, n;

	while ((n = ctl_line(text + pos, splits[_i].len - pos))) {
		ck_assert_uint_eq(n, splits[_i].lines[i++]);
		pos += n;
	}
	ck_assert_uint_eq(splits[_i].lines[i], 0);
	ck_assert_uint_eq(pos, splits[_i].len);
	free(text);
}
END_TEST

/* The first word of each line of the help is a command of that file. */
START_TEST(help_names_every_command_of_its_file_once)
{
	static const char *const words[][9] = {
		[CTL_SCOPE_ROOT] = { "release", "timeslice" },
		[CTL_SCOPE_DIE] = { "acquire", "release", "pin", "lease",
				    "unpin", "reset", "flush", "zero" },
	};
	size_t i = 0, n;

	for (const char *p = ctl_help(_i); *p; p += n) {
		const char *want = words[_i][i++];

		ck_assert_ptr_nonnull(want);
		n = ctl_line(p, strlen(p));
		ck_assert_int_eq(p[n - 1], '\n');
		ck_assert_uint_eq(strcspn(p, " \n"), strlen(want));
		ck_assert_int_eq(strncmp(p, want, strlen(want)), 0);
	}
	ck_assert_ptr_null(words[_i][i]);
}
END_TEST

Suite *ctl_suite(void)
{
	Suite *suite = suite_create("ctl");
	TCase *line = tcase_create("line");
	TCase *text = tcase_create("text");

	tcase_add_loop_test(line, parse_command_gives_its_fields, 0,
			    ARRAY_SIZE(good));
	tcase_add_loop_test(line,
			    parse_malformed_returns_einval_and_changes_nothing,
			    0, ARRAY_SIZE(bad));
	tcase_add_test(line, parse_longest_write_as_one_line);
	suite_add_tcase(suite, line);

	tcase_add_test(text,
		       check_write_of_4096_bytes_passes_and_4097_gives_e2big);
	tcase_add_test(text, check_nul_byte_anywhere_returns_einval);
	tcase_add_loop_test(text, line_lengths_add_up_to_the_text, 0,
			    ARRAY_SIZE(splits));
	tcase_add_loop_test(text, help_names_every_command_of_its_file_once,
			    CTL_SCOPE_ROOT, CTL_SCOPE_DIE + 1);
	suite_add_tcase(suite, text);
	return suite;
}
