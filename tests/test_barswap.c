// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fourteen tests of the library that hold for every device. They run on
 * $BARSWAP_DEVICE, or else on a small simulator; they overwrite VRAM.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/barswap.h"

#define SMALL_SIM   "sim:vram=64M"
#define N_SLOT_DIES 16
#define BLOCK       (64 * 1024)

static bs_context *ctx;

static const char *device(void)
{
	const char *name = getenv("BARSWAP_DEVICE");

	return name && *name ? name : SMALL_SIM;
}

static void setup(void)
{
	int active;

	ctx = bs_init_device(device());
	ck_assert_msg(ctx != NULL, "%s: %s", device(), strerror(errno));
	/* a module may have a die in from before; a context does not care */
	active = bs_active_die(ctx);
	if (active >= 0)
		ck_assert_int_eq(bs_release_die(ctx, active), 0);
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
}

static bs_gpu *acquire(int die)
{
	bs_gpu *gpu = bs_acquire(ctx, die);

	ck_assert_msg(gpu != NULL, "acquire %d: %s", die, strerror(errno));
	ck_assert_int_eq(gpu->die_id, die);
	return gpu;
}

START_TEST(init_free)
{
	bs_context *second = bs_init_device(device());

	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_ne(second, ctx);
	bs_free(second);
	bs_free(NULL);
}
END_TEST

START_TEST(null_safety)
{
	struct bs_health health;
	struct bs_info info;
	size_t len;
	void *addr;

	ck_assert_uint_eq(bs_num_dies(NULL), 0);
	ck_assert_uint_eq(bs_num_slots(NULL), 0);
	ck_assert_int_eq(bs_is_mapped(NULL, 0), 0);
	ck_assert_int_eq(bs_active_die(NULL), -1);
	ck_assert_int_eq(bs_refresh(NULL), -1);
	ck_assert_int_eq(bs_acquire_flags(NULL, 0, 0, NULL), -EINVAL);
	ck_assert_int_eq(bs_release_die(NULL, 0), -EINVAL);
	ck_assert_int_eq(bs_unlease(NULL, 0), -EINVAL);
	ck_assert_int_eq(bs_check(NULL, 0, &health), -EINVAL);
	ck_assert_int_eq(bs_check(ctx, 0, NULL), -EINVAL);
	ck_assert_int_eq(bs_die_info(NULL, 0, &info), -EINVAL);
	ck_assert_int_eq(bs_die_info(ctx, 0, NULL), -EINVAL);
	ck_assert_int_eq(bs_vram(NULL, 0, &addr, &len), -EINVAL);
	ck_assert_int_eq(bs_vram(ctx, 0, NULL, &len), -EINVAL);
	ck_assert_int_eq(bs_vram(ctx, 0, &addr, NULL), -EINVAL);
	ck_assert_int_eq(bs_zero(NULL, 0, 0, 1), -EINVAL);
	ck_assert_int_eq(bs_poll_fd(NULL), -1);
	ck_assert_str_eq(bs_device_name(NULL), "");
	ck_assert_int_eq(bs_sim_order(NULL, "dead 0"), -EINVAL);
	ck_assert_int_eq(bs_sim_order(ctx, NULL), -EINVAL);
	ck_assert_ptr_null(bs_init_device(NULL));
}
END_TEST

START_TEST(is_mapped_bounds)
{
	ck_assert_int_eq(bs_is_mapped(ctx, -1), 0);
	ck_assert_int_eq(bs_is_mapped(ctx, N_SLOT_DIES), 0);
	ck_assert_int_eq(bs_is_mapped(ctx, 99), 0);
	ck_assert_int_eq(bs_is_mapped(ctx, (int)bs_num_dies(ctx)), 0);
}
END_TEST

START_TEST(num_dies)
{
	ck_assert_uint_ge(bs_num_dies(ctx), 2);
	ck_assert_uint_le(bs_num_dies(ctx), N_SLOT_DIES);
}
END_TEST

START_TEST(num_slots)
{
	ck_assert_uint_eq(bs_num_slots(ctx), 1);
}
END_TEST

START_TEST(slot_starts_empty)
{
	ck_assert_int_eq(bs_active_die(ctx), -1);
	for (int die = 0; die < (int)bs_num_dies(ctx); die++)
		ck_assert_int_eq(bs_is_mapped(ctx, die), 0);
}
END_TEST

START_TEST(acquire_null_ctx)
{
	errno = 0;
	ck_assert_ptr_null(bs_acquire(NULL, 0));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(acquire_invalid_die)
{
	static const int bad[] = { -1, 99 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		ck_assert_ptr_null(bs_acquire(ctx, bad[i]));
		ck_assert_int_eq(errno, ENODEV);
	}
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

START_TEST(release_null)
{
	bs_gpu *gpu = acquire(0);

	bs_release(NULL, NULL);
	bs_release(ctx, NULL);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	bs_release(ctx, gpu);
}
END_TEST

START_TEST(acquire_basic)
{
	bs_gpu *gpu = acquire(0);

	ck_assert_uint_ne(gpu->bar1_addr, 0);
	/* a power of two, aligned to itself, no shorter than the memory */
	ck_assert_uint_ne(gpu->bar1_size, 0);
	ck_assert_uint_eq(gpu->bar1_size & (gpu->bar1_size - 1), 0);
	ck_assert_uint_eq(gpu->bar1_addr & (gpu->bar1_size - 1), 0);
	ck_assert_uint_le(gpu->vram_mapped_size, gpu->bar1_size);
	ck_assert_ptr_nonnull(gpu->vram);
	ck_assert_int_ge(gpu->mem_fd, 0);
	ck_assert_int_eq(bs_is_mapped(ctx, 0), 1);
	bs_release(ctx, gpu);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert_int_eq(bs_is_mapped(ctx, 0), 0);
}
END_TEST

START_TEST(acquire_all_dies)
{
	for (int die = 0; die < (int)bs_num_dies(ctx); die++) {
		bs_gpu *gpu = acquire(die);

		ck_assert_int_eq(bs_is_mapped(ctx, die), 1);
		bs_release(ctx, gpu);
		ck_assert_int_eq(bs_is_mapped(ctx, die), 0);
	}
}
END_TEST

START_TEST(active_die_tracking)
{
	for (int die = (int)bs_num_dies(ctx) - 1; die >= 0; die--) {
		bs_gpu *gpu = acquire(die);

		ck_assert_int_eq(bs_active_die(ctx), die);
		ck_assert_int_eq(bs_refresh(ctx), 0);
		ck_assert_int_eq(bs_active_die(ctx), die);
		bs_release(ctx, gpu);
		ck_assert_int_eq(bs_active_die(ctx), -1);
	}
}
END_TEST

START_TEST(implicit_release)
{
	bs_gpu *first = acquire(0);
	bs_gpu *second = acquire(1);

	ck_assert_int_eq(bs_is_mapped(ctx, 0), 0);
	ck_assert_int_eq(bs_is_mapped(ctx, 1), 1);
	bs_release(ctx, first);
	ck_assert_int_eq(bs_active_die(ctx), 1);
	bs_release(ctx, second);
	ck_assert_int_eq(bs_active_die(ctx), -1);
}
END_TEST

static void fill(unsigned char *block, uint64_t seed)
{
	for (uint64_t i = 0; i < BLOCK; i += sizeof(seed)) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		memcpy(block + i, &seed, sizeof(seed));
	}
}

START_TEST(vram_roundtrip)
{
	static unsigned char want[BLOCK], got[BLOCK];
	bs_gpu *gpu = acquire(0);
	size_t offs[] = { 0, gpu->vram_mapped_size / 2,
			  gpu->vram_mapped_size - BLOCK };
	struct bs_health health;

	ck_assert_ptr_nonnull(gpu->vram);
	for (size_t i = 0; i < 3; i++) {
		fill(want, i + 1);
		memcpy((char *)gpu->vram + offs[i], want, BLOCK);
	}
	for (size_t i = 0; i < 3; i++) {
		fill(want, i + 1);
		memcpy(got, (char *)gpu->vram + offs[i], BLOCK);
		ck_assert_int_eq(memcmp(got, want, BLOCK), 0);
	}
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_int_eq(health.alive, 1);
	bs_release(ctx, gpu);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("libbarswap");
	TCase *tcase = tcase_create("device");

	tcase_add_checked_fixture(tcase, setup, teardown);
	/* the first acquire of each die of a module resets its bus */
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, init_free);
	tcase_add_test(tcase, null_safety);
	tcase_add_test(tcase, is_mapped_bounds);
	tcase_add_test(tcase, num_dies);
	tcase_add_test(tcase, num_slots);
	tcase_add_test(tcase, slot_starts_empty);
	tcase_add_test(tcase, acquire_null_ctx);
	tcase_add_test(tcase, acquire_invalid_die);
	tcase_add_test(tcase, release_null);
	tcase_add_test(tcase, acquire_basic);
	tcase_add_test(tcase, acquire_all_dies);
	tcase_add_test(tcase, active_die_tracking);
	tcase_add_test(tcase, implicit_release);
	tcase_add_test(tcase, vram_roundtrip);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(make_suite());
	int failed;

	printf("device: %s\n", device());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
