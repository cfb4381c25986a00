// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "lib/dev_sim_opt.h"
#include "suites.h"

static struct sim_conf conf;

START_TEST(parse_empty_gives_defaults)
{
	ck_assert_int_eq(sim_parse_conf("", &conf), 0);
	ck_assert_uint_eq(conf.n_dies, 6);
	ck_assert_uint_eq(conf.vram_bytes, 12 * GIB);
	ck_assert_uint_eq(conf.swap_us, 0);
	ck_assert_str_eq(conf.dir, "");
	ck_assert_str_eq(conf.ctl, "");
}
END_TEST

START_TEST(parse_all_options_sets_each)
{
	ck_assert_int_eq(sim_parse_conf("dies=16,vram=3M,swap_us=200,dir=/a/b,"
					"ctl=/run/x",
					&conf),
			 0);
	ck_assert_uint_eq(conf.n_dies, 16);
	ck_assert_uint_eq(conf.vram_bytes, 3 * MIB);
	ck_assert_uint_eq(conf.swap_us, 200);
	ck_assert_str_eq(conf.dir, "/a/b");
	ck_assert_str_eq(conf.ctl, "/run/x");
}
END_TEST

static const struct {
	const char *options;
	uint64_t bytes;
} sizes[] = {
	{ "vram=4096", 4096 },          { "vram=4K", 4096 },
	{ "vram=12206M", 12206 * MIB }, { "vram=1024G", 1024 * GIB },
	{ "vram=8K,vram=4K", 4096 },
};

START_TEST(parse_size_with_suffix_gives_bytes)
{
	ck_assert_int_eq(sim_parse_conf(sizes[_i].options, &conf), 0);
	ck_assert_uint_eq(conf.vram_bytes, sizes[_i].bytes);
}
END_TEST

static const char *const bad[] = {
	"dies",
	"dies=",
	"dies=0",
	"dies=17",
	"dies=-1",
	"dies=+1",
	"dies= 1",
	"dies=1x",
	"dies=0x2",
	"dies=18446744073709551617",
	"vram=0",
	"vram=",
	"vram=K",
	"vram=4095",
	"vram=4097",
	"vram=1T",
	"vram=4k",
	"vram=1025G",
	"vram=18014398509481984K",
	"vram=4KK",
	"swap_us=-1",
	"swap_us=100000001",
	"dir=",
	"ctl=",
	"color=red",
	"=6",
	",",
	"dies=6,",
	",dies=6",
	"dies=6,,vram=4K",
	" dies=6",
	"Dies=6",
};

START_TEST(parse_bad_option_returns_einval_and_changes_nothing)
{
	struct sim_conf before;

	memset(&conf, 0x5a, sizeof(conf));
	before = conf;
	ck_assert_msg(sim_parse_conf(bad[_i], &conf) == -EINVAL, "'%s'", bad[_i]);
	ck_assert_mem_eq(&conf, &before, sizeof(conf));
}
END_TEST

START_TEST(parse_path_that_is_too_long_says_so)
{
	char options[sizeof(conf.ctl) + 8] = "ctl=";

	memset(options + 4, 'x', sizeof(conf.ctl) - 1);
	ck_assert_int_eq(sim_parse_conf(options, &conf), 0);
	options[4 + sizeof(conf.ctl) - 1] = 'x';
	ck_assert_int_eq(sim_parse_conf(options, &conf), -ENAMETOOLONG);
}
END_TEST

START_TEST(parse_number_keeps_to_its_limit)
{
	uint64_t n = 7;

	ck_assert_int_eq(sim_parse_u64("18446744073709551615", UINT64_MAX, &n),
			 0);
	ck_assert_uint_eq(n, UINT64_MAX);
	ck_assert_int_eq(sim_parse_u64("18446744073709551616", UINT64_MAX, &n),
			 -EINVAL);
	ck_assert_int_eq(sim_parse_u64("0", 0, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(sim_parse_u64("1", 0, &n), -EINVAL);
	ck_assert_int_eq(sim_parse_u64("6", 5, &n), -EINVAL);
	ck_assert_int_eq(sim_parse_u64("", 5, &n), -EINVAL);
}
END_TEST

Suite *dev_sim_opt_suite(void)
{
	Suite *suite = suite_create("dev_sim_opt");
	TCase *tcase = tcase_create("parse");

	tcase_add_test(tcase, parse_empty_gives_defaults);
	tcase_add_test(tcase, parse_all_options_sets_each);
	tcase_add_loop_test(tcase, parse_size_with_suffix_gives_bytes, 0,
			    ARRAY_SIZE(sizes));
	tcase_add_loop_test(tcase,
			    parse_bad_option_returns_einval_and_changes_nothing,
			    0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, parse_path_that_is_too_long_says_so);
	tcase_add_test(tcase, parse_number_keeps_to_its_limit);
	suite_add_tcase(suite, tcase);
	return suite;
}
