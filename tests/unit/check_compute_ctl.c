// SPDX-License-Identifier: GPL-2.0-or-later
/* The command language of compute/ctl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "compute/ctl.h"
#include "suites.h"

/* In memory of its own, so that a read past its end is seen. */
static int parse(const char *line, size_t len, struct compute_cmd *cmd)
{
	char *copy = malloc(len ? len : 1);
	int ret;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, line, len);
	memset(cmd, 0x5a, sizeof(*cmd));
	ret = compute_parse(copy, len, cmd);
	free(copy);
	return ret;
}

static const struct {
	const char *line;
	enum compute_verb verb;
} plain[] = {
	{ "", COMPUTE_BLANK },
	{ " \t\n", COMPUTE_BLANK },
	{ "online", COMPUTE_ONLINE },
	{ " online \n", COMPUTE_ONLINE },
	{ "offline\n", COMPUTE_OFFLINE },
	{ "sync\n", COMPUTE_SYNC },
	{ "\tverify", COMPUTE_VERIFY },
	{ "work 1 2", COMPUTE_WORK },
	{ "work 1 2 3\n", COMPUTE_WORK },
	{ "launch k 1 1", COMPUTE_LAUNCH },
	{ "kernels", COMPUTE_KERNELS },
};

START_TEST(parse_of_a_good_line_gives_its_verb)
{
	struct compute_cmd cmd;

	ck_assert_int_eq(parse(plain[_i].line, strlen(plain[_i].line), &cmd), 0);
	ck_assert_int_eq(cmd.verb, plain[_i].verb);
}
END_TEST

START_TEST(parse_of_work_gives_its_numbers)
{
	static const char line[] =
		"work 4294967295 15728640 18446744073709551615";
	struct compute_cmd cmd;

	ck_assert_int_eq(parse(line, strlen(line), &cmd), 0);
	ck_assert_uint_eq(cmd.seed, UINT32_MAX);
	ck_assert_uint_eq(cmd.iters, 15728640);
	ck_assert_uint_eq(cmd.delay, UINT64_MAX);
	ck_assert_int_eq(parse("work 1 2", 8, &cmd), 0);
	ck_assert_uint_eq(cmd.delay, 0);
}
END_TEST

START_TEST(parse_of_launch_gives_kernel_and_dimensions)
{
	static const char line[] = "launch _Z1fPf 1,2,3 2147483647";
	struct compute_cmd cmd;

	ck_assert_int_eq(parse(line, strlen(line), &cmd), 0);
	ck_assert_str_eq(cmd.launch.kernel, "_Z1fPf");
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(cmd.launch.grid[i], i + 1);
	ck_assert_uint_eq(cmd.launch.block[0], INT32_MAX);
	ck_assert_uint_eq(cmd.launch.block[1], 1);
	ck_assert_uint_eq(cmd.launch.block[2], 1);
	ck_assert_uint_eq(cmd.launch.n_args, 0);
}
END_TEST

#define F32(x)               \
	(((union {           \
		 float f;    \
		 uint32_t u; \
	 }){ .f = (x) })     \
		 .u)
#define F64(x)               \
	(((union {           \
		 double d;   \
		 uint64_t u; \
	 }){ .d = (x) })     \
		 .u)

static const struct {
	const char *text;
	struct owner_arg arg;
} args[] = {
	{ "in", { true, OWNER_IN, PTX_INT64, 0, 0 } },
	{ "out", { true, OWNER_OUT, PTX_INT64, 0, 0 } },
	{ "i32:5", { false, 0, PTX_INT32, 5, 0 } },
	{ "i32:2147483647", { false, 0, PTX_INT32, INT32_MAX, 0 } },
	{ "i32:-2147483648", { false, 0, PTX_INT32, (uint64_t)INT32_MIN, 0 } },
	{ "i32:-1", { false, 0, PTX_INT32, UINT64_MAX, 0 } },
	{ "u32:0", { false, 0, PTX_INT32, 0, 0 } },
	{ "u32:4294967295", { false, 0, PTX_INT32, UINT32_MAX, 0 } },
	{ "u32:0xffFFffff", { false, 0, PTX_INT32, UINT32_MAX, 0 } },
	{ "i64:-9223372036854775808",
	  { false, 0, PTX_INT64, (uint64_t)INT64_MIN, 0 } },
	{ "i64:9223372036854775807", { false, 0, PTX_INT64, INT64_MAX, 0 } },
	{ "u64:18446744073709551615", { false, 0, PTX_INT64, UINT64_MAX, 0 } },
	{ "u64:0xffffffffffffffff", { false, 0, PTX_INT64, UINT64_MAX, 0 } },
	{ "f32:1.5", { false, 0, PTX_FLOAT32, 0x3fc00000, 0 } },
	{ "f32:-1e-3", { false, 0, PTX_FLOAT32, 0xba83126f, 0 } },
	{ "f32:.5", { false, 0, PTX_FLOAT32, 0x3f000000, 0 } },
	{ "f32:+3", { false, 0, PTX_FLOAT32, 0x40400000, 0 } },
	{ "f64:1e300", { false, 0, PTX_FLOAT64, 0x7e37e43c8800759cULL, 0 } },
};

START_TEST(argument_gives_its_type_and_bits)
{
	struct compute_cmd cmd;
	const struct owner_arg *got = &cmd.launch.args[0];
	char line[128];

	sprintf(line, "launch k 1 1 %s", args[_i].text);
	ck_assert_int_eq(parse(line, strlen(line), &cmd), 0);
	ck_assert_uint_eq(cmd.launch.n_args, 1);
	ck_assert_int_eq(got->is_buffer, args[_i].arg.is_buffer);
	ck_assert_int_eq(got->type, args[_i].arg.type);
	if (got->is_buffer)
		ck_assert_int_eq(got->buffer, args[_i].arg.buffer);
	ck_assert_uint_eq(got->bits, args[_i].arg.bits);
}
END_TEST

static const char *const bad_args[] = {
	"In",
	"inn",
	"5",
	":5",
	"i32",
	"i32:",
	"i32:x",
	"i32:1x",
	"i32:0x",
	"i32:+1",
	"i32:--1",
	"i32:- 1",
	"i32:2147483648",
	"i32:-2147483649",
	"u32:-1",
	"u32:4294967296",
	"u32:1.0",
	"u32:0x100000000",
	"i16:1",
	"u64:18446744073709551616",
	"u64:0x10000000000000000",
	"i64:9223372036854775808",
	"f32:",
	"f32:x",
	"f32:nan",
	"f32:inf",
	"f32:1e39",
	"f32:0x1p3",
	"f32:1.5.2",
	"f32:1e",
	"f64:1e400",
	"f64:--1",
	"f32:0.000000000000000000000000000000001",
	"mem",
	"mem:",
	"mem:+1",
	"mem:a/b",
	"mem:/a",
	"Mem:a",
	"vram:",
	"vram+",
	"vram+x",
	"vram+-1",
	"vram+0x",
	"vram+9223372036854775808",
	"vramx",
};

static const struct {
	const char *text, *name;
	uint64_t off;
} places[] = {
	{ "mem:x", "x", 0 },
	{ "mem:x+4096", "x", 4096 },
	{ "mem:x+0x10", "x", 16 },
	{ "mem:x+0", "x", 0 },
	{ "mem:a+b", "a+b", 0 },
	{ "mem:a+", "a+", 0 },
	{ "mem:a+b+7", "a+b", 7 },
	{ "mem:a+5+0", "a+5", 0 },
	{ "mem:mem:vram", "mem:vram", 0 },
	{ "mem:vram+9223372036854775807", "vram", INT64_MAX },
	{ "mem:..", "..", 0 },
	{ "vram", "", 0 },
	{ "vram+12", "", 12 },
};

START_TEST(argument_of_memory_gives_its_name_and_offset)
{
	struct compute_cmd cmd;
	char line[128];

	sprintf(line, "launch k 1 1 in %s", places[_i].text);
	ck_assert_int_eq(parse(line, strlen(line), &cmd), 0);
	ck_assert(!cmd.places[0].is_given);
	ck_assert(cmd.places[1].is_given);
	ck_assert_str_eq(cmd.places[1].name, places[_i].name);
	ck_assert_uint_eq(cmd.launch.args[1].bits, places[_i].off);
	ck_assert_int_eq(cmd.launch.args[1].type, PTX_INT64);
	ck_assert(!cmd.launch.args[1].is_buffer);
	ck_assert_uint_eq(cmd.launch.args[1].memory, 0);
}
END_TEST

START_TEST(argument_of_memory_has_a_name_of_255_bytes_at_most)
{
	char line[300] = "launch k 1 1 mem:";
	size_t len = strlen(line);
	struct compute_cmd cmd;

	memset(line + len, 'n', COMPUTE_NAME_MAX + 1);
	ck_assert_int_eq(parse(line, len + COMPUTE_NAME_MAX, &cmd), 0);
	ck_assert_uint_eq(strlen(cmd.places[0].name), COMPUTE_NAME_MAX);
	ck_assert_int_eq(parse(line, len + COMPUTE_NAME_MAX + 1, &cmd), -EINVAL);
	line[len + 1] = '\0';
	ck_assert_int_eq(parse(line, len + 3, &cmd), -EINVAL);
}
END_TEST

START_TEST(block_may_have_shared_memory)
{
	struct compute_cmd cmd;

	ck_assert_int_eq(parse("launch k 1 2,3:49152", 20, &cmd), 0);
	ck_assert_uint_eq(cmd.launch.block[1], 3);
	ck_assert_uint_eq(cmd.launch.shared_bytes, 49152);
	ck_assert_int_eq(parse("launch k 1 2", 12, &cmd), 0);
	ck_assert_uint_eq(cmd.launch.shared_bytes, 0);
}
END_TEST

START_TEST(bad_argument_is_refused)
{
	struct compute_cmd cmd;
	char line[128];

	sprintf(line, "launch k 1 1 %s", bad_args[_i]);
	ck_assert_int_eq(parse(line, strlen(line), &cmd), -EINVAL);
}
END_TEST

static const char *const bad[] = {
	"onlin",
	"online 0",
	"ONLINE",
	"sync now",
	"verify 1",
	"work",
	"work 1",
	"work 1 2 3 4",
	"work -1 2",
	"work 1 15728641",
	"work 4294967296 1",
	"work 0x1 1",
	"launch",
	"launch k",
	"launch k 1",
	"launch k 0 1",
	"launch k 1 0",
	"launch k 1, 1",
	"launch k ,1 1",
	"launch k 1,1,1,1 1",
	"launch k 1,,1 1",
	"launch k -1 1",
	"launch k 2147483648 1",
	"launch k 0x1 1",
	"launch k 1.0 1",
	"launch k 1:8 1",
	"launch k 1 1:",
	"launch k 1 1:-1",
	"launch k 1 1:4294967296",
	"launch k 1 1:0x10",
	"launch k 1 :8",
	"launch k 1 1:8:8",
	"kernels all",
	"online\r",
	"quit",
	"launch kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk 1 1",
	"launch k 1 1 in in in in in in in in in in in in in in in in in",
};

START_TEST(bad_line_is_refused)
{
	struct compute_cmd cmd;

	ck_assert_int_eq(parse(bad[_i], strlen(bad[_i]), &cmd), -EINVAL);
}
END_TEST

START_TEST(most_arguments_fit)
{
	static const char line[] =
		"launch k 1 1 in in in in in in in in in in in in in in in in";
	struct compute_cmd cmd;

	ck_assert_int_eq(parse(line, strlen(line), &cmd), 0);
	ck_assert_uint_eq(cmd.launch.n_args, PTX_MAX_PARAMS);
}
END_TEST

START_TEST(help_names_every_verb)
{
	static const char *const names[] = { "online", "offline", "work",
					     "launch", "sync",    "verify",
					     "kernels" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_ptr_nonnull(strstr(compute_help(), names[i]));
}
END_TEST

Suite *compute_ctl_suite(void)
{
	Suite *suite = suite_create("compute_ctl");
	TCase *lines = tcase_create("lines");
	TCase *arguments = tcase_create("arguments");

	tcase_add_loop_test(lines, parse_of_a_good_line_gives_its_verb, 0,
			    ARRAY_SIZE(plain));
	tcase_add_test(lines, parse_of_work_gives_its_numbers);
	tcase_add_test(lines, parse_of_launch_gives_kernel_and_dimensions);
	tcase_add_loop_test(lines, bad_line_is_refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(lines, help_names_every_verb);
	suite_add_tcase(suite, lines);

	tcase_add_loop_test(arguments, argument_gives_its_type_and_bits, 0,
			    ARRAY_SIZE(args));
	tcase_add_loop_test(arguments,
			    argument_of_memory_gives_its_name_and_offset, 0,
			    ARRAY_SIZE(places));
	tcase_add_test(arguments,
		       argument_of_memory_has_a_name_of_255_bytes_at_most);
	tcase_add_test(lines, block_may_have_shared_memory);
	tcase_add_loop_test(arguments, bad_argument_is_refused, 0,
			    ARRAY_SIZE(bad_args));
	tcase_add_test(arguments, most_arguments_fit);
	suite_add_tcase(suite, arguments);
	return suite;
}
