// SPDX-License-Identifier: GPL-2.0-or-later
/* Bit encoding of BARs and bridge windows, and the rules for a slot. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kmod/window.h"

#define MIB           (1ULL << 20)
#define GIB           (1ULL << 30)
#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

Suite *window_suite(void);

static const struct {
	struct bs_range mem;
	struct bs_range pref;
	struct bs_window regs;
} windows[] = {
	/* the reference slot; the first two values from a running kernel */
	{ { 0xf3000000, 0xf5ffffff },
	  { 0xc00000000, 0xfffffffff },
	  { 0xf5f0f300, 0xfff00000, 0xc, 0xf } },
	/* one granule each */
	{ { 0xf3000000, 0xf30fffff },
	  { 0x100000000, 0x1000fffff },
	  { 0xf300f300, 0x00000000, 1, 1 } },
	/* a prefetchable window below 4 GiB */
	{ { 0xe0000000, 0xe1ffffff },
	  { 0xd0000000, 0xdfffffff },
	  { 0xe1f0e000, 0xdff0d000, 0, 0 } },
	/* the ends of what fits */
	{ { 0x00000000, 0xffffffff },
	  { 0x00000000, 0xffffffffffffffff },
	  { 0xfff00000, 0xfff00000, 0, 0xffffffff } },
};

START_TEST(encode_ranges_gives_registers)
{
	struct bs_window w = bs_window_encode(windows[_i].mem, windows[_i].pref);

	ck_assert_uint_eq(w.mem, windows[_i].regs.mem);
	ck_assert_uint_eq(w.pref, windows[_i].regs.pref);
	ck_assert_uint_eq(w.base_hi, windows[_i].regs.base_hi);
	ck_assert_uint_eq(w.limit_hi, windows[_i].regs.limit_hi);
	ck_assert_uint_eq(w.mem & ~BS_WINDOW_MASK, 0);
	ck_assert_uint_eq(w.pref & ~BS_WINDOW_MASK, 0);
}
END_TEST

START_TEST(decode_registers_gives_ranges_back)
{
	struct bs_window w = windows[_i].regs;
	struct bs_range mem, pref;

	/* as hardware shows them, with the 64-bit type in both nibbles */
	w.pref |= 0x00010001;
	bs_window_decode(&w, &mem, &pref);
	ck_assert_uint_eq(mem.start, windows[_i].mem.start);
	ck_assert_uint_eq(mem.end, windows[_i].mem.end);
	ck_assert_uint_eq(pref.start, windows[_i].pref.start);
	ck_assert_uint_eq(pref.end, windows[_i].pref.end);
}
END_TEST

START_TEST(decode_32bit_window_ignores_upper_dwords)
{
	struct bs_window w = { 0xf5f0f300, 0xdff0d000, 0xc, 0xf };
	struct bs_range mem, pref;

	bs_window_decode(&w, &mem, &pref);
	ck_assert_uint_eq(pref.start, 0xd0000000);
	ck_assert_uint_eq(pref.end, 0xdfffffff);
}
END_TEST

/* Base above limit, whatever type the bridge shows in the low nibble. */
START_TEST(closed_window_forwards_nothing)
{
	struct bs_window w = BS_WINDOW_CLOSED;
	struct bs_range mem, pref;

	w.pref |= _i ? 0x00010001 : 0;
	bs_window_decode(&w, &mem, &pref);
	ck_assert_uint_gt(mem.start, mem.end);
	ck_assert_uint_gt(pref.start, pref.end);
}
END_TEST

/*
 * The writer's order (limit 0, low word, base, limit): the prefetchable window
 * of a 64-bit bridge must be closed until the last write.
 */
START_TEST(open_window_stays_closed_until_last_write)
{
	struct bs_window now = BS_WINDOW_CLOSED;
	const struct bs_window *to = &windows[0].regs;
	struct bs_range mem, pref;
	int step;

	now.pref |= 0x00010001;
	for (step = 0; step < 4; step++) {
		bs_window_decode(&now, &mem, &pref);
		ck_assert_uint_gt(pref.start, pref.end);
		switch (step) {
		case 0:
			now.limit_hi = 0;
			break;
		case 1:
			now.pref = to->pref | 0x00010001;
			break;
		case 2:
			now.base_hi = to->base_hi;
			break;
		case 3:
			now.limit_hi = to->limit_hi;
			break;
		}
	}
	bs_window_decode(&now, &mem, &pref);
	ck_assert_uint_eq(pref.start, windows[0].pref.start);
	ck_assert_uint_eq(pref.end, windows[0].pref.end);
}
END_TEST

static const struct {
	uint32_t lo;
	uint32_t hi;
	uint64_t size;
} bars[] = {
	{ 0xff000000, 0, 16 * MIB }, /* BAR0 of a GK210 */
	{ 0x0000000c, 0xfffffffc, 16 * GIB }, /* its BAR1 */
	{ 0xfe00000c, 0xffffffff, 32 * MIB }, /* its BAR3 */
	{ 0xfffffff0, 0, 16 }, /* the smallest */
	{ 0x80000000, 0, 2 * GIB }, /* the largest of 32 bits */
	{ 0x0000000c, 0x80000000, 1ULL << 63 }, /* of 64 bits */
	{ 0xff000008, 0xdead, 16 * MIB }, /* 32 bits: the next BAR is not ours */
	{ 0, 0, 0 }, /* not there */
	{ 0xffffff81, 0, 0 }, /* I/O */
	{ 0xffffffff, 0xffffffff, 0 }, /* a device that is gone */
	{ 0x00000008, 0, 0 }, /* type bits alone */
	{ 0x0000000c, 0, 0 },
	{ 0xf0f00000, 0, 0 }, /* holes: no BAR reads so */
	{ 0xfe00000c, 0x00ffffff, 0 },
};

START_TEST(size_readback_gives_bytes)
{
	ck_assert_uint_eq(bs_bar_size(bars[_i].lo, bars[_i].hi), bars[_i].size);
}
END_TEST

#define SLOT(...)                                                      \
	{                                                              \
		.bar0 = 0xf3000000, .bar0_size = 16 * MIB,             \
		.bar1 = 0xc00000000, .bar1_size = 16 * GIB,            \
		.bar3 = 0xf4000000, .bar3_size = 32 * MIB, __VA_ARGS__ \
	}
#define LIMIT_36 ((1ULL << 36) - 1)

/* A later designator wins over SLOT's own on purpose. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif
static const struct {
	struct bs_slot_geom geom;
	const char *says; /* NULL: it may be there */
} slots[] = {
	{ SLOT(), NULL },
	{ SLOT(.bar3_size = 0), NULL },
	{ SLOT(.bar3 = 0xf0000000), NULL },
	{ SLOT(.bar1 = 0x400000000), NULL },
	{ SLOT(.bar1 = 0xd0000000, .bar1_size = 256 * MIB), NULL },
	{ SLOT(.bar1 = 0xC10000000), "bar1 is not" },
	{ SLOT(.bar1_size = 12 * GIB), "bar1 is not" },
	{ SLOT(.bar1_size = 0), "bar1 is not" },
	{ SLOT(.bar1_size = 64 * 1024), "smaller than a bridge window" },
	{ SLOT(.bar1 = 0x1000000000), "physical address limit" },
	{ SLOT(.bar1 = 0xfffffffc00000000), "physical address limit" },
	{ SLOT(.bar0 = 0xf3100000), "bar0 is not" },
	{ SLOT(.bar0_size = 0), "bar0 is not" },
	{ SLOT(.bar0_size = 8), "bar0 is not" },
	{ SLOT(.bar0 = 0x100000000), "below 4 GiB" },
	{ SLOT(.bar3 = 0xf5000000), "bar3 is not" },
	{ SLOT(.bar3 = 0x100000000), "below 4 GiB" },
	{ SLOT(.bar3 = 0xf2000000), "overlap" },
};
#pragma GCC diagnostic pop

START_TEST(check_slot_names_what_is_wrong)
{
	const char *got = bs_slot_check(&slots[_i].geom, LIMIT_36);

	if (!slots[_i].says) {
		ck_assert_pstr_eq(got, NULL);
		return;
	}
	ck_assert_ptr_nonnull(got);
	ck_assert_msg(strstr(got, slots[_i].says), "\"%s\" lacks \"%s\"", got,
		      slots[_i].says);
}
END_TEST

static const struct {
	struct bs_range a, b;
	bool overlaps;
} pairs[] = {
	{ { 0x1000, 0x1fff }, { 0x2000, 0x2fff }, false },
	{ { 0x1000, 0x2000 }, { 0x2000, 0x2fff }, true },
	{ { 0x1000, 0x4fff }, { 0x2000, 0x2fff }, true },
	{ { 0x2000, 0x2fff }, { 0x1000, 0x4fff }, true },
	{ { 0x3000, 0x3fff }, { 0x2000, 0x2fff }, false },
	{ { 0, UINT64_MAX }, { UINT64_MAX, UINT64_MAX }, true },
};

START_TEST(overlap_of_two_ranges)
{
	ck_assert(bs_range_overlaps(pairs[_i].a, pairs[_i].b) ==
		  pairs[_i].overlaps);
	ck_assert(bs_range_overlaps(pairs[_i].b, pairs[_i].a) ==
		  pairs[_i].overlaps);
}
END_TEST

static const struct {
	uint64_t bar0, bar0_size, bar3, bar3_size;
	struct bs_range window;
} nonprefs[] = {
	{ 0xf3000000, 16 * MIB, 0xf4000000, 32 * MIB, { 0xf3000000, 0xf5ffffff } },
	{ 0xf4000000, 16 * MIB, 0xf2000000, 32 * MIB, { 0xf2000000, 0xf4ffffff } },
	/* a gap between the two is part of the window */
	{ 0xf0000000, 16 * MIB, 0xf4000000, 32 * MIB, { 0xf0000000, 0xf5ffffff } },
	{ 0xf3000000, 16 * MIB, 0, 0, { 0xf3000000, 0xf3ffffff } },
	/* BARs smaller than a window's granule */
	{ 0xf3010000, 65536, 0xf3310000, 4096, { 0xf3000000, 0xf33fffff } },
};

START_TEST(window_of_small_bars_covers_both)
{
	struct bs_slot_geom geom = {
		.bar0 = nonprefs[_i].bar0,
		.bar0_size = nonprefs[_i].bar0_size,
		.bar3 = nonprefs[_i].bar3,
		.bar3_size = nonprefs[_i].bar3_size,
	};
	struct bs_range got = bs_slot_nonpref(&geom);

	ck_assert_uint_eq(got.start, nonprefs[_i].window.start);
	ck_assert_uint_eq(got.end, nonprefs[_i].window.end);
}
END_TEST

Suite *window_suite(void)
{
	Suite *suite = suite_create("window");
	TCase *window = tcase_create("window");
	TCase *bar = tcase_create("bar");
	TCase *slot = tcase_create("slot");

	tcase_add_loop_test(window, encode_ranges_gives_registers, 0,
			    N_ELEMENTS(windows));
	tcase_add_loop_test(window, decode_registers_gives_ranges_back, 0,
			    N_ELEMENTS(windows));
	tcase_add_test(window, decode_32bit_window_ignores_upper_dwords);
	tcase_add_loop_test(window, closed_window_forwards_nothing, 0, 2);
	tcase_add_test(window, open_window_stays_closed_until_last_write);
	tcase_add_loop_test(bar, size_readback_gives_bytes, 0, N_ELEMENTS(bars));
	tcase_add_loop_test(slot, check_slot_names_what_is_wrong, 0,
			    N_ELEMENTS(slots));
	tcase_add_loop_test(slot, overlap_of_two_ranges, 0, N_ELEMENTS(pairs));
	tcase_add_loop_test(slot, window_of_small_bars_covers_both, 0,
			    N_ELEMENTS(nonprefs));
	suite_add_tcase(suite, window);
	suite_add_tcase(suite, bar);
	suite_add_tcase(suite, slot);
	return suite;
}
