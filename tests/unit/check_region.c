// SPDX-License-Identifier: GPL-2.0-or-later
/* Region geometry: memory length and carve-out to what users get. */
#include <check.h>
#include <stdint.h>

#include "kmod/region.h"

#define MIB  (1ULL << 20)
#define GIB  (1ULL << 30)
#define KEPT 0xdeadULL

Suite *region_suite(void);

static const struct {
	uint64_t memory;
	uint64_t resmem;
	int ret;
	struct bs_region out;
} splits[] = {
	/* a K80 die: BAR1 is larger than the memory */
	{ 12 * GIB, 0, 0, { 12 * GIB, 16 * GIB, 0, 0 } },
	/* no carve-out: nothing is rounded, not even odd lengths */
	{ 12 * GIB + 1, 0, 0, { 12 * GIB + 1, 16 * GIB, 0, 0 } },
	{ 1, 0, 0, { 1, 1, 0, 0 } },
	{ 3, 0, 0, { 3, 4, 0, 0 } },
	{ 16 * GIB, 0, 0, { 16 * GIB, 16 * GIB, 0, 0 } },
	/* a carve-out of whole blocks */
	{ 12 * GIB, GIB, 0, { 11 * GIB, 16 * GIB, GIB, GIB } },
	/* rounded down to a block; the carve-out gets the remainder */
	{ 12 * GIB,
	  GIB + 1,
	  0,
	  { 10 * GIB + 512 * MIB, 16 * GIB, GIB + 512 * MIB, 2 * GIB } },
	{ 12 * GIB + 300 * MIB,
	  GIB,
	  0,
	  { 11 * GIB, 16 * GIB, GIB + 300 * MIB, 2 * GIB } },
	/* the BAR is sized before the rounding */
	{ 9 * GIB + MIB, GIB, 0, { 8 * GIB, 16 * GIB, GIB + MIB, 2 * GIB } },
	{ 9 * GIB, GIB, 0, { 8 * GIB, 8 * GIB, GIB, GIB } },
	/* exactly one block is left */
	{ GIB, 512 * MIB, 0, { 512 * MIB, 512 * MIB, 512 * MIB, 512 * MIB } },
	/* less than a block is left */
	{ GIB, 512 * MIB + 1, -EINVAL, { 0 } },
	{ 511 * MIB, MIB, -EINVAL, { 0 } },
	/* nothing is left */
	{ GIB, GIB, -EINVAL, { 0 } },
	{ 0, 0, -EINVAL, { 0 } },
	/* more is carved out than there is */
	{ GIB, GIB + 1, -EOVERFLOW, { 0 } },
	{ 0, 1, -EOVERFLOW, { 0 } },
	{ GIB, UINT64_MAX, -EOVERFLOW, { 0 } },
	/* the largest BAR that 64 bits hold, and one byte more */
	{ 1ULL << 63, 0, 0, { 1ULL << 63, 1ULL << 63, 0, 0 } },
	{ (1ULL << 63) + 1, 0, -EOVERFLOW, { 0 } },
	{ UINT64_MAX, 0, -EOVERFLOW, { 0 } },
	/* the carve-out's own BAR does not fit */
	{ UINT64_MAX, (1ULL << 63) + GIB, -EOVERFLOW, { 0 } },
};

START_TEST(compute_memory_gives_parts)
{
	struct bs_region out = { KEPT, KEPT, KEPT, KEPT };
	int ret = bs_region_compute(splits[_i].memory, splits[_i].resmem, &out);

	ck_assert_int_eq(ret, splits[_i].ret);
	if (ret) {
		ck_assert_uint_eq(out.usemem_len, KEPT);
		ck_assert_uint_eq(out.usemem_bar, KEPT);
		ck_assert_uint_eq(out.resmem_len, KEPT);
		ck_assert_uint_eq(out.resmem_bar, KEPT);
		return;
	}
	ck_assert_uint_eq(out.usemem_len, splits[_i].out.usemem_len);
	ck_assert_uint_eq(out.usemem_bar, splits[_i].out.usemem_bar);
	ck_assert_uint_eq(out.resmem_len, splits[_i].out.resmem_len);
	ck_assert_uint_eq(out.resmem_bar, splits[_i].out.resmem_bar);
	ck_assert_uint_eq(out.usemem_len + out.resmem_len, splits[_i].memory);
}
END_TEST

static const struct {
	uint64_t len;
	uint64_t pow2;
} powers[] = {
	{ 1, 1 },
	{ 2, 2 },
	{ 3, 4 },
	{ 12 * GIB, 16 * GIB },
	{ 16 * GIB, 16 * GIB },
	{ 16 * GIB + 1, 32 * GIB },
	{ 1ULL << 63, 1ULL << 63 },
	{ (1ULL << 63) + 1, 0 },
};

START_TEST(ceil_length_gives_power_of_two)
{
	ck_assert_uint_eq(bs_pow2_ceil(powers[_i].len), powers[_i].pow2);
}
END_TEST

Suite *region_suite(void)
{
	Suite *suite = suite_create("region");
	TCase *split = tcase_create("split");
	TCase *ceil = tcase_create("ceil");

	tcase_add_loop_test(split, compute_memory_gives_parts, 0,
			    sizeof(splits) / sizeof(splits[0]));
	tcase_add_loop_test(ceil, ceil_length_gives_power_of_two, 0,
			    sizeof(powers) / sizeof(powers[0]));
	suite_add_tcase(suite, split);
	suite_add_tcase(suite, ceil);
	return suite;
}
