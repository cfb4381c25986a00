// SPDX-License-Identifier: GPL-2.0-or-later
/* Which kernels a PTX text holds, and the job whose result can be checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "owner/owner.h"
#include "owner/ptx.h"
#include "owner/work.h"
#include "suites.h"

static struct ptx_kernel kernels[PTX_MAX_KERNELS];

/* In memory of its own, so that a read past its end is seen. */
static unsigned int read_text(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	unsigned int n;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	memset(kernels, 0x5a, sizeof(kernels));
	n = ptx_kernels(copy, len, kernels);
	free(copy);
	return n;
}

static const struct {
	const char *text;
	unsigned int n;
	struct ptx_kernel first;
} texts[] = {
	{ "", 0, { .n_params = 0 } },
	{ ".entry", 0, { .n_params = 0 } },
	{ ".visible .func f(.param .u32 a) {}", 0, { .n_params = 0 } },
	{ "// .entry f()\n/* .entry g() */ \".entry h()\"", 0, { .n_params = 0 } },
	{ ".entry f", 1, { "f", 0, { 0 } } },
	{ ".entry f {}", 1, { "f", 0, { 0 } } },
	{ ".visible .entry f()", 1, { "f", 0, { 0 } } },
	{ ".entry _Z1fPf$%.x(.param .u64 a)",
	  1,
	  { "_Z1fPf$%.x", 1, { PTX_INT64 } } },
	{ ".entry/*x*/f//y\n(.param/**/.f32 a)", 1, { "f", 1, { PTX_FLOAT32 } } },
	{ ".entry f(.param .u32 a, .param .s32 b,.param .b32 c)",
	  1,
	  { "f", 3, { PTX_INT32, PTX_INT32, PTX_INT32 } } },
	{ ".entry f(.param .u64 .ptr .global .align 4 a, .param .f64 b)",
	  1,
	  { "f", 2, { PTX_INT64, PTX_FLOAT64 } } },
	{ ".entry f(.param .align 8 .b8 a[16], .param .s64 b)",
	  1,
	  { "f", 2, { PTX_OTHER, PTX_INT64 } } },
	{ ".entry f(.param .u32 a[4])", 1, { "f", 1, { PTX_OTHER } } },
	{ ".entry f(.param .u8 a, .param .b16 b)",
	  1,
	  { "f", 2, { PTX_OTHER, PTX_OTHER } } },
	{ ".entry f(.param .u32 a", 1, { "f", 1, { PTX_INT32 } } },
	{ ".entry f(.param .u32 a) {} .entry g(.param .u64 b) {}",
	  2,
	  { "f", 1, { PTX_INT32 } } },
	{ ".entry f( /* never ends", 1, { "f", 0, { 0 } } },
};

START_TEST(text_gives_its_kernels_and_their_arguments)
{
	const struct ptx_kernel *want = &texts[_i].first;

	ck_assert_uint_eq(read_text(texts[_i].text), texts[_i].n);
	if (!texts[_i].n)
		return;
	ck_assert_str_eq(kernels[0].name, want->name);
	ck_assert_uint_eq(kernels[0].n_params, want->n_params);
	for (unsigned int i = 0; i < want->n_params; i++)
		ck_assert_int_eq(kernels[0].params[i], want->params[i]);
}
END_TEST

START_TEST(second_kernel_is_read_like_the_first)
{
	ck_assert_uint_eq(read_text(".entry f(.param .u32 a) { x } "
				    ".entry g(.param .f32 b) { y }"),
			  2);
	ck_assert_str_eq(kernels[1].name, "g");
	ck_assert_uint_eq(kernels[1].n_params, 1);
	ck_assert_int_eq(kernels[1].params[0], PTX_FLOAT32);
}
END_TEST

START_TEST(more_than_fits_is_counted_or_left_out)
{
	char text[8192] = "", *p = text;

	p += sprintf(p, ".entry f(");
	for (int i = 0; i < PTX_MAX_PARAMS + 3; i++)
		p += sprintf(p, "%s.param .u32 p%d", i ? "," : "", i);
	p += sprintf(p, ") {}\n.entry %0*d() {}\n", PTX_NAME_LEN, 0);
	for (int i = 0; i < 2 * PTX_MAX_KERNELS; i++)
		p += sprintf(p, ".entry k%d() {}\n", i);
	ck_assert_uint_eq(read_text(text), PTX_MAX_KERNELS);
	ck_assert_uint_eq(kernels[0].n_params, PTX_MAX_PARAMS + 3);
	ck_assert_str_eq(kernels[1].name, "k0");
}
END_TEST

START_TEST(built_in_text_has_what_the_owner_launches)
{
	ck_assert_uint_eq(read_text(owner_builtin()), 3);
	ck_assert_str_eq(kernels[0].name, "k80_add");
	ck_assert_uint_eq(kernels[0].n_params, 5);
	ck_assert_int_eq(kernels[0].params[4], PTX_INT64);
	ck_assert_str_eq(kernels[1].name, "k80_fill");
	ck_assert_int_eq(kernels[1].params[2], PTX_FLOAT32);
	ck_assert_str_eq(kernels[2].name, "k80_scale");
}
END_TEST

#define N_FLOATS 4096

START_TEST(work_is_integers_that_a_seed_fixes)
{
	static float one[N_FLOATS], same[N_FLOATS], other[N_FLOATS];
	size_t n_equal = 0;

	work_fill(one, N_FLOATS, 1);
	work_fill(same, N_FLOATS, 1);
	work_fill(other, N_FLOATS, 2);
	for (size_t i = 0; i < N_FLOATS; i++) {
		ck_assert(one[i] >= 0 && one[i] < WORK_MAX_VALUE);
		ck_assert(one[i] == (float)(uint32_t)one[i]);
		ck_assert(one[i] == same[i]);
		n_equal += one[i] == other[i];
	}
	ck_assert_uint_lt(n_equal, 10);
}
END_TEST

START_TEST(check_finds_each_wrong_result)
{
	static float out[N_FLOATS];
	size_t first = 0;

	work_fill(out, N_FLOATS, 3);
	for (size_t i = 0; i < N_FLOATS; i++)
		out[i] += (float)WORK_MAX_ITERS;
	ck_assert_uint_eq(
		work_count_wrong(out, N_FLOATS, 3, WORK_MAX_ITERS, &first), 0);
	out[17] += 1;
	out[N_FLOATS - 1] = 0;
	ck_assert_uint_eq(
		work_count_wrong(out, N_FLOATS, 3, WORK_MAX_ITERS, &first), 2);
	ck_assert_uint_eq(first, 17);
	ck_assert_uint_eq(work_count_wrong(out, N_FLOATS, 3, WORK_MAX_ITERS - 1,
					   &first),
			  N_FLOATS);
}
END_TEST

Suite *ptx_suite(void)
{
	Suite *suite = suite_create("ptx");
	TCase *text = tcase_create("text");
	TCase *work = tcase_create("work");

	tcase_add_loop_test(text, text_gives_its_kernels_and_their_arguments, 0,
			    ARRAY_SIZE(texts));
	tcase_add_test(text, second_kernel_is_read_like_the_first);
	tcase_add_test(text, more_than_fits_is_counted_or_left_out);
	tcase_add_test(text, built_in_text_has_what_the_owner_launches);
	suite_add_tcase(suite, text);

	tcase_add_test(work, work_is_integers_that_a_seed_fixes);
	tcase_add_test(work, check_finds_each_wrong_result);
	suite_add_tcase(suite, work);
	return suite;
}
