// SPDX-License-Identifier: GPL-2.0-or-later
/* What the API does before any device is asked; a simulator stands below. */
#include <errno.h>
#include <stdbool.h>
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

static void order(const char *text)
{
	ck_assert_msg(bs_sim_order(ctx, text) == 0, "%s", text);
}

START_TEST(lease_fd_of_a_simulator_is_none)
{
	ck_assert_int_eq(bs_lease_fd(ctx), -1);
	ck_assert_int_eq(bs_lease_fd(NULL), -1);
}
END_TEST

START_TEST(version_is_that_of_the_header)
{
	ck_assert_str_eq(bs_version(), BS_LIB_VERSION);
}
END_TEST

START_TEST(release_of_a_second_handle_leaves_the_first_its_die)
{
	bs_gpu *first = bs_acquire(ctx, 0);
	bs_gpu *second = bs_acquire(ctx, 0);

	bs_release(ctx, second);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	*(char *)first->vram = 'f';
	bs_release(ctx, first);
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(release_of_a_handle_leaves_a_lease_without_one)
{
	struct bs_info info;

	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_LEASE, NULL), 0);
	bs_release(ctx, bs_acquire(ctx, 0));
	ck_assert_int_eq(bs_die_info(ctx, 0, &info), 0);
	ck_assert_int_eq(info.leased_here, 1);
	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	bs_release(ctx, bs_acquire(ctx, 0));
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(release_of_a_handle_ends_the_lease_it_came_with)
{
	bs_gpu *gpu;

	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_LEASE, &gpu), 0);
	bs_release(ctx, gpu);
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(acquire_that_fails_counts_no_handle)
{
	order("fail 0 1 EPERM");
	ck_assert_ptr_null(bs_acquire(ctx, 0));
	bs_release(ctx, bs_acquire(ctx, 0));
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(release_leaves_its_error_in_errno)
{
	bs_gpu *gpu = bs_acquire(ctx, 0);

	errno = EXDEV;
	order("driver 0 nvidia");
	bs_release(ctx, gpu);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	order("driver 0 none");
	gpu = bs_acquire(ctx, 0);
	errno = EXDEV;
	bs_release(ctx, gpu);
	ck_assert_int_eq(errno, EXDEV);
}
END_TEST

static void acquire_and_release_by_force(bs_context *sim)
{
	bs_gpu *gpu = bs_acquire(sim, 0);

	ck_assert_ptr_nonnull(gpu);
	errno = 0;
	bs_release(sim, gpu);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(bs_active_die(sim), -1);
}

START_TEST(set_flags_makes_calls_without_flags_force)
{
	ck_assert_int_eq(bs_set_flags(NULL, BS_FORCE), -EINVAL);
	ck_assert_int_eq(bs_set_flags(ctx, BS_LEASE), -EINVAL);
	ck_assert_int_eq(bs_set_flags(ctx, BS_DRIVER_MEM), -EINVAL);
	order("cap 1");
	order("driver 0 nvidia");
	ck_assert_ptr_null(bs_acquire(ctx, 0));
	ck_assert_int_eq(bs_set_flags(ctx, BS_FORCE), 0);
	acquire_and_release_by_force(ctx);
	/* but not those that have flags */
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, 0, NULL), -EBUSY);
	ck_assert_int_eq(bs_set_flags(ctx, 0), 0);
	ck_assert_ptr_null(bs_acquire(ctx, 0));
}
END_TEST

static const struct {
	const char *value;
	bool forces;
} environments[] = {
	{ "1", true }, { "", false }, { "0", false }, { "yes", false }
};

START_TEST(environment_makes_calls_without_flags_force)
{
	bs_context *sim;

	setenv("BARSWAP_FORCE", environments[_i].value, 1);
	sim = bs_init_device(OPTIONS);
	unsetenv("BARSWAP_FORCE");
	ck_assert_int_eq(bs_sim_order(sim, "cap 1"), 0);
	ck_assert_int_eq(bs_sim_order(sim, "driver 0 nvidia"), 0);
	if (environments[_i].forces)
		acquire_and_release_by_force(sim);
	else
		ck_assert_ptr_null(bs_acquire(sim, 0));
	bs_free(sim);
}
END_TEST

START_TEST(release_flags_knows_force_alone)
{
	ck_assert_int_eq(bs_release_flags(NULL, 0, 0), -EINVAL);
	ck_assert_int_eq(bs_release_flags(ctx, DIES, 0), -ENODEV);
	ck_assert_int_eq(bs_release_flags(ctx, 0, BS_NOWAIT), -EINVAL);
	ck_assert_int_eq(bs_release_flags(ctx, 0, BS_FORCE), 0);
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
	tcase_add_test(calls, lease_fd_of_a_simulator_is_none);
	tcase_add_test(calls, version_is_that_of_the_header);
	tcase_add_test(calls,
		       release_of_a_second_handle_leaves_the_first_its_die);
	tcase_add_test(calls, release_of_a_handle_leaves_a_lease_without_one);
	tcase_add_test(calls, release_of_a_handle_ends_the_lease_it_came_with);
	tcase_add_test(calls, acquire_that_fails_counts_no_handle);
	tcase_add_test(calls, release_leaves_its_error_in_errno);
	tcase_add_test(calls, set_flags_makes_calls_without_flags_force);
	tcase_add_loop_test(calls, environment_makes_calls_without_flags_force,
			    0, ARRAY_SIZE(environments));
	tcase_add_test(calls, release_flags_knows_force_alone);
	suite_add_tcase(suite, calls);
	return suite;
}
