// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of others on a terminal. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "text/quote.h"

static const char *put(void (*quote)(FILE *, const char *), const char *s)
{
	static char text[256];
	FILE *f;

	memset(text, 0, sizeof(text));
	f = fmemopen(text, sizeof(text) - 1, "w");
	ck_assert_ptr_nonnull(f);
	quote(f, s);
	fclose(f);
	return text;
}

static const struct {
	const char *text, *plain, *word;
} rows[] = {
	{ "/mnt/k80", "/mnt/k80", "/mnt/k80" },
	{ "", "", "''" },
	{ "/mnt/my dies", "/mnt/my dies", "'/mnt/my dies'" },
	{ "/it's", "/it's", "'/it'\\''s'" },
	{ "/a$b;c", "/a$b;c", "'/a$b;c'" },
	{ "/a\\b", "/a\\b", "'/a\\b'" },
	{ "/m\xc3\xb6", "/m\xc3\xb6", "'/m\xc3\xb6'" },
	{ "/a\033[2Jb", "/a?[2Jb", "$'/a\\033[2Jb'" },
	{ "/a\nb'c\\", "/a?b'c\\", "$'/a\\012b\\'c\\\\'" },
	{ "/\x7f", "/?", "$'/\\177'" },
	{ "/\xc2\x9b"
	  "2J",
	  "/?2J", "$'/\\302\\2332J'" },
	{ "/\xc2", "/\xc2", "'/\xc2'" },
};

START_TEST(text_drives_no_terminal_and_can_be_pasted)
{
	ck_assert_str_eq(put(quote_plain, rows[_i].text), rows[_i].plain);
	ck_assert_str_eq(put(quote_word, rows[_i].text), rows[_i].word);
}
END_TEST

static void put_line(FILE *f, const char *s)
{
	quote_line(f, "k80fs: %s: %d", s, 5);
}

START_TEST(line_drives_no_terminal_and_ends)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "k80fs: %s: 5\n", rows[_i].plain);
	ck_assert_str_eq(put(put_line, rows[_i].text), wanted);
}
END_TEST

Suite *quote_suite(void)
{
	Suite *suite = suite_create("quote");
	TCase *text = tcase_create("text");

	tcase_add_loop_test(text, text_drives_no_terminal_and_can_be_pasted, 0,
			    ARRAY_SIZE(rows));
	tcase_add_loop_test(text, line_drives_no_terminal_and_ends, 0,
			    ARRAY_SIZE(rows));
	suite_add_tcase(suite, text);
	return suite;
}
