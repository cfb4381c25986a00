// SPDX-License-Identifier: GPL-2.0-or-later
/* bs_read() and bs_write(): bytes, ranges, and every reason to refuse. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/util.h"
#include "copy/guard.h"
#include "lib/barswap.h"
#include "suites.h"
#include "support.h"

#define VRAM MIB

static bs_context *ctx;
static struct sigaction before;
static char buf[VRAM];

static void setup(void)
{
	sigaction(SIGBUS, NULL, &before);
	ck_assert_int_eq(guard_init(), 0);
	ctx = bs_init_device("sim:dies=2,vram=1M");
	ck_assert_ptr_nonnull(ctx);
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_LEASE, NULL), 0);
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
	sigaction(SIGBUS, &before, NULL);
}

static void order(const char *text)
{
	ck_assert_msg(bs_sim_order(ctx, text) == 0, "%s", text);
}

START_TEST(written_bytes_are_read_back_and_neighbours_stay)
{
	char out[100];

	memset(buf, 'n', VRAM);
	ck_assert_int_eq(bs_write(ctx, 0, 0, buf, VRAM), 0);
	ck_assert_int_eq(bs_write(ctx, 0, 4001, "hello", 5), 0);
	ck_assert_int_eq(bs_read(ctx, 0, 4000, out, 7), 0);
	ck_assert_mem_eq(out, "nhellon", 7);
	ck_assert_int_eq(bs_read(ctx, 0, VRAM - 1, out, 1), 0);
	ck_assert_int_eq(out[0], 'n');
	ck_assert_int_eq(bs_read(ctx, 0, VRAM, NULL, 0), 0);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	char byte;

	ck_assert_int_eq(bs_read(NULL, 0, 0, &byte, 1), -EINVAL);
	ck_assert_int_eq(bs_write(NULL, 0, 0, &byte, 1), -EINVAL);
	ck_assert_int_eq(bs_read(ctx, 2, 0, &byte, 1), -ENODEV);
	ck_assert_int_eq(bs_read(ctx, -1, 0, &byte, 1), -ENODEV);
	ck_assert_int_eq(bs_read(ctx, 0, VRAM, &byte, 1), -EINVAL);
	ck_assert_int_eq(bs_write(ctx, 0, UINT64_MAX, &byte, 1), -EINVAL);
	ck_assert_int_eq(bs_read(ctx, 0, 0, NULL, 1), -EINVAL);
	ck_assert_int_eq(bs_write(ctx, 0, 0, NULL, 1), -EINVAL);
}
END_TEST

static const struct {
	const char *order;
	int ret;
} conditions[] = {
	{ "driver 0 nvidia", -EBUSY },
	{ "stuck 0", -EBUSY },
	{ "dead 0", -EIO },
	{ "novram 0", -EIO },
	{ "remove 0", -ENODEV },
	{ "unusable 0", -ENXIO },
};

START_TEST(die_in_a_bad_condition_is_refused)
{
	char byte = 0;

	order(conditions[_i].order);
	ck_assert_int_eq(bs_read(ctx, 0, 0, &byte, 1), conditions[_i].ret);
	ck_assert_int_eq(bs_write(ctx, 0, 0, &byte, 1), conditions[_i].ret);
}
END_TEST

START_TEST(die_that_is_out_is_refused)
{
	char byte = 0;

	ck_assert_int_eq(bs_read(ctx, 1, 0, &byte, 1), -ENXIO);
	ck_assert_int_eq(bs_write(ctx, 1, 0, &byte, 1), -ENXIO);
}
END_TEST

START_TEST(drivers_memory_is_there_for_who_asked)
{
	char byte = 0;

	order("cap 1");
	order("driver 0 nvidia");
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_DRIVER_MEM, NULL), 0);
	ck_assert_int_eq(bs_write(ctx, 0, 0, "m", 1), 0);
	ck_assert_int_eq(bs_read(ctx, 0, 0, &byte, 1), 0);
	ck_assert_int_eq(byte, 'm');
}
END_TEST

static atomic_ulong n_read;

/* Ends with the first error, which is its answer. */
static void *read_for_ever(void *arg)
{
	int *ret = arg;

	while (!*ret) {
		*ret = bs_read(ctx, 0, 0, buf, VRAM);
		n_read++;
	}
	return NULL;
}

static const struct {
	const char *order;
	int ret;
} interruptions[] = {
	{ "driver 0 nvidia", -EBUSY },
	{ "dead 0", -EIO },
	{ "remove 0", -ENODEV },
};

START_TEST(die_that_is_lost_in_a_copy_is_an_error_not_a_signal)
{
	pthread_t reader;
	int ret = 0;

	n_read = 0;
	pthread_create(&reader, NULL, read_for_ever, &ret);
	support_wait_until(n_read > 10);
	order(interruptions[_i].order);
	pthread_join(reader, NULL);
	ck_assert_int_eq(ret, interruptions[_i].ret);
}
END_TEST

Suite *rw_suite(void)
{
	Suite *suite = suite_create("rw");
	TCase *calls = tcase_create("calls");

	tcase_add_checked_fixture(calls, setup, teardown);
	tcase_add_test(calls, written_bytes_are_read_back_and_neighbours_stay);
	tcase_add_test(calls, bad_arguments_are_refused);
	tcase_add_loop_test(calls, die_in_a_bad_condition_is_refused, 0,
			    ARRAY_SIZE(conditions));
	tcase_add_test(calls, die_that_is_out_is_refused);
	tcase_add_test(calls, drivers_memory_is_there_for_who_asked);
	tcase_add_loop_test(calls,
			    die_that_is_lost_in_a_copy_is_an_error_not_a_signal,
			    0, ARRAY_SIZE(interruptions));
	suite_add_tcase(suite, calls);
	return suite;
}
