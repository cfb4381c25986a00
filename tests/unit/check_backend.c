// SPDX-License-Identifier: GPL-2.0-or-later
/* The wrappers around the operations, and the simulator's behind them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/util.h"
#include "fake_backend.h"
#include "suites.h"
#include "support.h"

#define DIES  3
#define BYTES (4 * MIB)

static struct backend be;
static char buf[3 * MIB];

static void setup(void)
{
	fake_open(&be, DIES, BYTES);
}

static void teardown(void)
{
	ck_assert_msg(!fake_complaint(), "%s", fake_complaint());
	fake_close();
}

static unsigned int n_calls(void)
{
	unsigned int n = 0;

	for (unsigned int call = 0; call < FAKE_N_CALLS; call++)
		n += fake_count(call, FAKE_ANY_DIE);
	return n;
}

static const unsigned int no_dies[] = { DIES, DIES + 1, 16, UINT32_MAX };

START_TEST(die_that_does_not_exist_gives_enodev_and_calls_nobody)
{
	unsigned int die = no_dies[_i];
	struct bs_info info;

	ck_assert_int_eq(backend_bind(&be, die, 0), -ENODEV);
	ck_assert_int_eq(backend_unbind(&be, die), -ENODEV);
	ck_assert_int_eq(backend_read(&be, die, 0, buf, 1), -ENODEV);
	ck_assert_int_eq(backend_write(&be, die, 0, buf, 1), -ENODEV);
	ck_assert_int_eq(backend_zero(&be, die, 0, 1), -ENODEV);
	ck_assert_int_eq(backend_sync(&be, die), -ENODEV);
	ck_assert_int_eq(backend_info(&be, die, &info), -ENODEV);
	backend_rest(&be, die);
	ck_assert_uint_eq(n_calls(), 0);
}
END_TEST

static const struct {
	uint64_t off, len;
} outside[] = {
	{ 0, BYTES + 1 },  { 1, BYTES },
	{ BYTES, 1 },      { BYTES + 1, 0 },
	{ UINT64_MAX, 1 }, { UINT64_MAX, 2 },
	{ 1, UINT64_MAX }, { UINT64_MAX - 10, 20 },
};

START_TEST(range_outside_the_memory_gives_einval_and_calls_nobody)
{
	uint64_t off = outside[_i].off, len = outside[_i].len;

	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_int_eq(backend_read(&be, 0, off, buf, len), -EINVAL);
	ck_assert_int_eq(backend_write(&be, 0, off, buf, len), -EINVAL);
	ck_assert_int_eq(backend_zero(&be, 0, off, len), -EINVAL);
	ck_assert_uint_eq(n_calls(), 1);
	ck_assert_uint_eq(be.dies[0].read_bytes, 0);
	ck_assert_uint_eq(be.dies[0].written_bytes, 0);
}
END_TEST

START_TEST(last_byte_and_nothing_at_the_end_are_inside)
{
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_int_eq(backend_read(&be, 0, BYTES - 1, buf, 1), 0);
	ck_assert_int_eq(backend_read(&be, 0, BYTES, buf, 0), 0);
	ck_assert_int_eq(backend_write(&be, 0, BYTES, buf, 0), 0);
	ck_assert_int_eq(backend_zero(&be, 0, BYTES, 0), 0);
}
END_TEST

START_TEST(long_copy_is_made_in_chunks_that_add_up)
{
	const size_t len = 2 * BACKEND_MAX_CHUNK + 5;

	ck_assert_int_eq(backend_bind(&be, 1, 0), 0);
	for (size_t i = 0; i < len; i++)
		buf[i] = (char)(i * 13 + i / 4096);
	ck_assert_int_eq(backend_write(&be, 1, 7, buf, len), 0);
	ck_assert_uint_eq(fake_count(FAKE_WRITE, 1), 3);
	ck_assert_mem_eq(fake_mem(1) + 7, buf, len);
	ck_assert_int_eq(fake_mem(1)[7 + len], 0);
	memset(buf, 0, sizeof(buf));
	ck_assert_int_eq(backend_read(&be, 1, 7, buf, len), 0);
	ck_assert_uint_eq(fake_count(FAKE_READ, 1), 3);
	ck_assert_mem_eq(fake_mem(1) + 7, buf, len);
	ck_assert_uint_eq(be.dies[1].written_bytes, len);
	ck_assert_uint_eq(be.dies[1].read_bytes, len);
	ck_assert_uint_eq(be.dies[0].read_bytes, 0);
}
END_TEST

START_TEST(chunk_that_fails_ends_the_copy_and_counts_nothing)
{
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	fake_fail(FAKE_READ, 0, -EIO, 1);
	fake_fail(FAKE_WRITE, 0, -EIO, 1);
	fake_fail(FAKE_ZERO, 0, -EIO, 1);
	ck_assert_int_eq(backend_read(&be, 0, 0, buf, sizeof(buf)), -EIO);
	ck_assert_int_eq(backend_write(&be, 0, 0, buf, sizeof(buf)), -EIO);
	ck_assert_int_eq(backend_zero(&be, 0, 0, BYTES), -EIO);
	ck_assert_uint_eq(n_calls(), 4);
	ck_assert_uint_eq(be.dies[0].read_bytes, 0);
	ck_assert_uint_eq(be.dies[0].written_bytes, 0);
}
END_TEST

static const struct {
	int alive, mode, state;
	int want;
	const char *driver;
} conditions[] = {
	{ 1, BS_MODE_PHYSICAL, -1, 0, "" },
	{ 1, BS_MODE_UNKNOWN, -1, 0, "" },
	{ 0, BS_MODE_PHYSICAL, -1, -EIO, "" },
	{ 1, BS_MODE_PHYSICAL, BS_STATE_DEAD, -EIO, "" },
	{ 1, BS_MODE_PHYSICAL, BS_STATE_NO_VRAM, -EIO, "" },
	{ 1, BS_MODE_VIRTUAL, -1, -EBUSY, "" },
	{ 0, BS_MODE_VIRTUAL, -1, -EIO, "" },
	{ 1, BS_MODE_PHYSICAL, -1, -EBUSY, "nvidia" },
	{ 0, BS_MODE_PHYSICAL, -1, -EIO, "nvidia" },
};

/* "never 0xFF bytes as data": such a die is not even asked. */
START_TEST(condition_of_a_die_refuses_copies)
{
	struct bs_info info;
	int want = conditions[_i].want;
	unsigned int before;

	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	fake_set_alive(0, conditions[_i].alive);
	fake_set_mode(0, conditions[_i].mode);
	fake_set_state(0, conditions[_i].state);
	fake_set_driver(0, conditions[_i].driver);
	ck_assert_int_eq(backend_info(&be, 0, &info), 0);
	before = n_calls();
	ck_assert_int_eq(backend_read(&be, 0, 0, buf, 1), want);
	ck_assert_int_eq(backend_write(&be, 0, 0, buf, 1), want);
	ck_assert_int_eq(backend_zero(&be, 0, 0, 1), want);
	ck_assert_int_eq(backend_sync(&be, 0), want);
	ck_assert_uint_eq(n_calls() - before, want ? 0 : 4);
}
END_TEST

/* It has left since, and nobody has looked at the die. */
START_TEST(driver_that_was_seen_once_refuses_nothing_later)
{
	struct bs_info info;

	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	fake_set_driver(0, "nvidia");
	ck_assert_int_eq(backend_info(&be, 0, &info), 0);
	ck_assert_int_eq(backend_condition(&be, 0), -EBUSY);
	fake_set_driver(0, "");
	ck_assert_int_eq(backend_read(&be, 0, 0, buf, 1), 0);
	ck_assert_int_eq(backend_condition(&be, 0), 0);
}
END_TEST

START_TEST(bind_looks_at_the_die_and_counts_swaps)
{
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_uint_eq(be.swaps, 1);
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_uint_eq(be.swaps, 1);
	fake_set_alive(1, 0);
	ck_assert_int_eq(backend_bind(&be, 1, 0), 0);
	ck_assert_uint_eq(be.swaps, 2);
	ck_assert_int_eq(backend_read(&be, 1, 0, buf, 1), -EIO);
}
END_TEST

START_TEST(bind_passes_flags_and_errors_on)
{
	static const int errors[] = { -EAGAIN, -ENODEV, -EBUSY, -EIO };

	ck_assert_int_eq(backend_bind(&be, 0, BS_FORCE_SBR), 0);
	ck_assert_uint_eq(fake_bind_flags(), BS_FORCE_SBR);
	ck_assert_uint_eq(backend_generation(&be, 0), 1);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		fake_fail(FAKE_BIND, 1, errors[i], 1);
		ck_assert_int_eq(backend_bind(&be, 1, 0), errors[i]);
	}
	fake_fail(FAKE_UNBIND, 0, -EBUSY, 1);
	ck_assert_int_eq(backend_unbind(&be, 0), -EBUSY);
}
END_TEST

START_TEST(generation_is_that_of_the_last_look)
{
	struct bs_info info;

	ck_assert_uint_eq(backend_generation(&be, 2), 0);
	fake_reset(2);
	ck_assert_uint_eq(backend_generation(&be, 2), 0);
	ck_assert_int_eq(backend_info(&be, 2, &info), 0);
	ck_assert_uint_eq(info.generation, 1);
	ck_assert_uint_eq(backend_generation(&be, 2), 1);
	fake_reset(2);
	ck_assert_int_eq(backend_bind(&be, 2, 0), 0);
	ck_assert_uint_eq(backend_generation(&be, 2), 2);
}
END_TEST

/* The real implementation, on simulated dies. */

static void sim_setup(void)
{
	ck_assert_int_eq(backend_open(&be, "sim", "sim:dies=2,vram=4M"), 0);
}

static void sim_teardown(void)
{
	backend_close(&be);
}

START_TEST(open_learns_the_dies)
{
	ck_assert_str_eq(be.ops->name, "sim");
	ck_assert(be.ops->has_slot);
	ck_assert_uint_eq(be.n_dies, 2);
	ck_assert_uint_eq(be.dies[1].vram_bytes, 4 * MIB);
	ck_assert_uint_eq(be.dies[1].len, 4 * MIB);
	ck_assert_ptr_nonnull(be.copy_name);
	ck_assert_str_ne(be.copy_name, "");
}
END_TEST

START_TEST(open_that_cannot_work_says_why_and_leaves_no_descriptor)
{
	int before = support_n_entries("/proc/self/fd");
	struct backend other;

	ck_assert_int_eq(backend_open(&other, "cuda-ish", "sim"), -EINVAL);
	ck_assert_int_eq(backend_open(&other, "", "sim"), -EINVAL);
	ck_assert_int_eq(backend_open(&other, "sim", "sim:dies=0"), -EINVAL);
	ck_assert_int_eq(backend_open(&other, "bar_swap", "/nonexistent/bar_swap"),
			 -ENOENT);
	ck_assert_int_eq(support_n_entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(bytes_survive_swaps_at_every_length_and_offset)
{
	static const size_t lens[] = { 1, 7, 64, 4095, 65537, 2 * MIB + 3 };
	static const uint64_t offs[] = { 0, 1, 63, 4096, MIB - 1 };
	static char back[3 * MIB];

	for (size_t l = 0; l < ARRAY_SIZE(lens); l++)
		for (size_t o = 0; o < ARRAY_SIZE(offs); o++) {
			memset(buf, (int)(l * 8 + o + 1), lens[l]);
			ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
			ck_assert_int_eq(
				backend_write(&be, 0, offs[o], buf, lens[l]), 0);
			ck_assert_int_eq(backend_bind(&be, 1, 0), 0);
			ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
			ck_assert_int_eq(
				backend_read(&be, 0, offs[o], back, lens[l]), 0);
			ck_assert_mem_eq(back, buf, lens[l]);
		}
}
END_TEST

START_TEST(zero_clears_a_range_and_keeps_its_neighbours)
{
	memset(buf, 'x', sizeof(buf));
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_int_eq(backend_write(&be, 0, 0, buf, sizeof(buf)), 0);
	ck_assert_int_eq(backend_zero(&be, 0, 5, MIB), 0);
	ck_assert_int_eq(backend_read(&be, 0, 0, buf, sizeof(buf)), 0);
	for (size_t i = 0; i < sizeof(buf); i++)
		support_assert(buf[i] == (i >= 5 && i < 5 + MIB ? 0 : 'x'));
}
END_TEST

START_TEST(copy_on_a_die_that_is_out_fails_and_gives_no_other_dies_bytes)
{
	memset(buf, 'a', MIB);
	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_int_eq(backend_write(&be, 0, 0, buf, MIB), 0);
	memset(buf, 'b', MIB);
	ck_assert_int_lt(backend_read(&be, 1, 0, buf, MIB), 0);
	ck_assert(!memchr(buf, 'a', MIB));
	ck_assert_int_lt(backend_write(&be, 1, 0, buf, MIB), 0);
	ck_assert_int_eq(backend_unbind(&be, 0), 0);
	ck_assert_int_lt(backend_read(&be, 0, 0, buf, MIB), 0);
}
END_TEST

START_TEST(unbind_of_a_die_that_is_out_is_no_error)
{
	ck_assert_int_eq(backend_unbind(&be, 0), 0);
	ck_assert_int_eq(backend_bind(&be, 1, 0), 0);
	ck_assert_int_eq(backend_unbind(&be, 0), 0);
	ck_assert_int_eq(backend_read(&be, 1, 0, buf, 1), 0);
}
END_TEST

START_TEST(reset_raises_the_generation_and_the_first_bind_does_not)
{
	uint64_t before = backend_generation(&be, 0);

	ck_assert_int_eq(backend_bind(&be, 0, 0), 0);
	ck_assert_uint_eq(backend_generation(&be, 0), before);
	ck_assert_int_eq(backend_bind(&be, 0, BS_FORCE_SBR), 0);
	ck_assert_uint_eq(backend_generation(&be, 0), before + 1);
}
END_TEST

Suite *backend_suite(void)
{
	Suite *suite = suite_create("backend");
	TCase *wrapper = tcase_create("wrapper");
	TCase *sim = tcase_create("sim");

	tcase_add_checked_fixture(wrapper, setup, teardown);
	tcase_add_loop_test(wrapper,
			    die_that_does_not_exist_gives_enodev_and_calls_nobody,
			    0, ARRAY_SIZE(no_dies));
	tcase_add_loop_test(
		wrapper, range_outside_the_memory_gives_einval_and_calls_nobody,
		0, ARRAY_SIZE(outside));
	tcase_add_test(wrapper, last_byte_and_nothing_at_the_end_are_inside);
	tcase_add_test(wrapper, long_copy_is_made_in_chunks_that_add_up);
	tcase_add_test(wrapper,
		       chunk_that_fails_ends_the_copy_and_counts_nothing);
	tcase_add_loop_test(wrapper, condition_of_a_die_refuses_copies, 0,
			    ARRAY_SIZE(conditions));
	tcase_add_test(wrapper, driver_that_was_seen_once_refuses_nothing_later);
	tcase_add_test(wrapper, bind_looks_at_the_die_and_counts_swaps);
	tcase_add_test(wrapper, bind_passes_flags_and_errors_on);
	tcase_add_test(wrapper, generation_is_that_of_the_last_look);
	suite_add_tcase(suite, wrapper);

	tcase_add_checked_fixture(sim, sim_setup, sim_teardown);
	tcase_add_test(sim, open_learns_the_dies);
	tcase_add_test(sim,
		       open_that_cannot_work_says_why_and_leaves_no_descriptor);
	tcase_add_test(sim, bytes_survive_swaps_at_every_length_and_offset);
	tcase_add_test(sim, zero_clears_a_range_and_keeps_its_neighbours);
	tcase_add_test(
		sim,
		copy_on_a_die_that_is_out_fails_and_gives_no_other_dies_bytes);
	tcase_add_test(sim, unbind_of_a_die_that_is_out_is_no_error);
	tcase_add_test(sim,
		       reset_raises_the_generation_and_the_first_bind_does_not);
	suite_add_tcase(suite, sim);
	return suite;
}
