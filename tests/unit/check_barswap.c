// SPDX-License-Identifier: GPL-2.0-or-later
/* What the API does before any device is asked; a simulator stands below. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "suites.h"

#define DIES    2
#define VRAM    (1 * MIB)
#define OPTIONS "sim:dies=2,vram=1M"

static bs_context *ctx;

static void setup(void)
{
	ctx = bs_init_device(OPTIONS);
	ck_assert_ptr_nonnull(ctx);
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
}

static void check_init_fails(const char *device, int error)
{
	errno = 0;
	ck_assert_ptr_null(bs_init_device(device));
	ck_assert_int_eq(errno, error);
}

START_TEST(init_bad_name_sets_errno)
{
	check_init_fails(NULL, EINVAL);
	check_init_fails("", ENOENT);
	check_init_fails("/nonexistent/bar_swap", ENOENT);
	check_init_fails("simulator", ENOENT);
	check_init_fails("/dev/null", ENOTTY);
	check_init_fails("sim:dies=0", EINVAL);
	check_init_fails("sim:dir=/nonexistent/dir", ENOENT);
}
END_TEST

START_TEST(init_without_options_gives_the_default_simulator)
{
	bs_context *sim;
	struct bs_info info;

	sim = bs_init_device("sim");
	ck_assert_ptr_nonnull(sim);
	ck_assert_uint_eq(bs_num_dies(sim), 6);
	ck_assert_int_eq(bs_die_info(sim, 5, &info), 0);
	ck_assert_uint_eq(info.vram_bytes, 12 * GIB);
	ck_assert_uint_eq(info.bar1_size, 16 * GIB);
	bs_free(sim);
}
END_TEST

START_TEST(init_takes_the_device_from_the_environment)
{
	const char *before = getenv("BARSWAP_DEVICE");
	char *saved = before ? strdup(before) : NULL;
	bs_context *sim;

	setenv("BARSWAP_DEVICE", "sim:dies=3,vram=4K", 1);
	sim = bs_init();
	ck_assert_uint_eq(bs_num_dies(sim), 3);
	ck_assert_str_eq(bs_device_name(sim), "sim");
	bs_free(sim);
	unsetenv("BARSWAP_DEVICE");
	if (access("/dev/bar_swap", F_OK)) {
		errno = 0;
		ck_assert_ptr_null(bs_init());
		ck_assert_int_eq(errno, ENOENT);
	}
	if (saved)
		setenv("BARSWAP_DEVICE", saved, 1);
	free(saved);
}
END_TEST

static const int bad_die[] = { -1, DIES, 99, INT32_MIN, INT32_MAX };

START_TEST(call_with_bad_die_returns_enodev)
{
	int die = bad_die[_i];
	struct bs_health health;
	struct bs_info info;
	size_t len;
	void *addr;

	ck_assert_int_eq(bs_acquire_flags(ctx, die, 0, NULL), -ENODEV);
	ck_assert_int_eq(bs_release_die(ctx, die), -ENODEV);
	ck_assert_int_eq(bs_unlease(ctx, die), -ENODEV);
	ck_assert_int_eq(bs_check(ctx, die, &health), -ENODEV);
	ck_assert_int_eq(bs_die_info(ctx, die, &info), -ENODEV);
	ck_assert_int_eq(bs_vram(ctx, die, &addr, &len), -ENODEV);
	ck_assert_int_eq(bs_zero(ctx, die, 0, 1), -ENODEV);
	ck_assert_int_eq(bs_is_mapped(ctx, die), 0);
}
END_TEST

START_TEST(acquire_with_unknown_flag_changes_nothing)
{
	bs_gpu *gpu = (bs_gpu *)&gpu;

	ck_assert_int_eq(bs_acquire_flags(ctx, 0, 0x10, &gpu), -EINVAL);
	ck_assert_ptr_eq(gpu, &gpu);
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(acquire_gives_a_handle_with_all_fields)
{
	size_t len = 0;
	void *addr = NULL;
	bs_gpu *gpu = NULL;

	ck_assert_int_eq(bs_acquire_flags(ctx, 1, 0, &gpu), 0);
	ck_assert_int_eq(bs_vram(ctx, 1, &addr, &len), 0);
	ck_assert_int_eq(gpu->die_id, 1);
	ck_assert_uint_eq(gpu->bar1_addr, 0xC00000000);
	ck_assert_uint_eq(gpu->bar1_size, VRAM);
	ck_assert_ptr_eq(gpu->vram, addr);
	ck_assert_uint_eq(gpu->vram_mapped_size, len);
	ck_assert_uint_eq(len, VRAM);
	ck_assert_int_ge(gpu->mem_fd, 0);
	bs_release(ctx, gpu);
}
END_TEST

START_TEST(acquire_that_fails_sets_errno)
{
	ck_assert_int_eq(bs_sim_order(ctx, "fail 0 1 EPERM"), 0);
	errno = 0;
	ck_assert_ptr_null(bs_acquire(ctx, 0));
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(release_of_a_handle_without_context_frees_it)
{
	bs_gpu *gpu = bs_acquire(ctx, 0);

	bs_release(NULL, gpu);
	ck_assert_int_eq(bs_active_die(ctx), 0);
}
END_TEST

static const struct {
	uint64_t off, len;
	int ret;
} ranges[] = {
	{ 0, VRAM, 0 },
	{ VRAM, 0, 0 },
	{ 0, VRAM + 1, -EINVAL },
	{ VRAM, 1, -EINVAL },
	{ VRAM + 1, 0, -EINVAL },
	{ 1, UINT64_MAX, -EINVAL },
	{ UINT64_MAX, 1, -EINVAL },
};

START_TEST(zero_outside_the_memory_returns_einval)
{
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, 0, NULL), 0);
	ck_assert_int_eq(bs_zero(ctx, 0, ranges[_i].off, ranges[_i].len),
			 ranges[_i].ret);
}
END_TEST

START_TEST(poll_fd_of_a_simulator_is_none)
{
	ck_assert_int_eq(bs_poll_fd(ctx), -1);
}
END_TEST

Suite *barswap_suite(void)
{
	Suite *suite = suite_create("barswap");
	TCase *init = tcase_create("init");
	TCase *calls = tcase_create("calls");

	tcase_add_test(init, init_bad_name_sets_errno);
	tcase_add_test(init, init_without_options_gives_the_default_simulator);
	tcase_add_test(init, init_takes_the_device_from_the_environment);
	suite_add_tcase(suite, init);

	tcase_add_checked_fixture(calls, setup, teardown);
	tcase_add_loop_test(calls, call_with_bad_die_returns_enodev, 0,
			    ARRAY_SIZE(bad_die));
	tcase_add_test(calls, acquire_with_unknown_flag_changes_nothing);
	tcase_add_test(calls, acquire_gives_a_handle_with_all_fields);
	tcase_add_test(calls, acquire_that_fails_sets_errno);
	tcase_add_test(calls, release_of_a_handle_without_context_frees_it);
	tcase_add_loop_test(calls, zero_outside_the_memory_returns_einval, 0,
			    ARRAY_SIZE(ranges));
	tcase_add_test(calls, poll_fd_of_a_simulator_is_none);
	suite_add_tcase(suite, calls);
	return suite;
}
