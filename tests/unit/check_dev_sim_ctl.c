// SPDX-License-Identifier: GPL-2.0-or-later
/* Orders to the simulator: their grammar, and each fault's effect. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "suites.h"
#include "support.h"

#define DIES    4
#define VRAM    (64 * KIB)
#define OPTIONS "sim:dies=4,vram=64K"

static bs_context *ctx;
static char *vram[DIES];

static void setup(void)
{
	ctx = bs_init_device(OPTIONS);
	ck_assert_ptr_nonnull(ctx);
	for (int die = 0; die < DIES; die++) {
		size_t len;
		void *addr;

		ck_assert_int_eq(bs_vram(ctx, die, &addr, &len), 0);
		vram[die] = addr;
	}
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
}

static int acquire(int die)
{
	return bs_acquire_flags(ctx, die, 0, NULL);
}

static void order(const char *text)
{
	ck_assert_msg(bs_sim_order(ctx, text) == 0, "%s", text);
}

static struct bs_info info_of(int die)
{
	struct bs_info info;

	ck_assert_int_eq(bs_die_info(ctx, die, &info), 0);
	return info;
}

static void check_last_error(int die, const char *end)
{
	struct bs_info info = info_of(die);
	int year, month, day, hour, minute, second, at = 0;

	sscanf(info.last_error, "%d-%d-%d %d:%d:%d %n", &year, &month, &day,
	       &hour, &minute, &second, &at);
	ck_assert_int_eq(at, sizeof("2026-11-29 14:00:00 ") - 1);
	ck_assert_str_eq(info.last_error + at, end);
}

static const struct {
	const char *order;
	int ret;
} grammar[] = {
	{ "", -EINVAL },
	{ " ", -EINVAL },
	{ "explode", -EINVAL },
	{ "explode 0", -EINVAL },
	{ "DEAD 0", -EINVAL },
	{ "dead", -EINVAL },
	{ "dead 0 1", -EINVAL },
	{ "dead x", -EINVAL },
	{ "dead -1", -EINVAL },
	{ "dead 0x0", -EINVAL },
	{ "dead 0\n", -EINVAL },
	{ "dead 4", -ENODEV },
	{ "dead 99", -ENODEV },
	{ "dead 99999999999999999999", -EINVAL },
	{ "revive 4", -ENODEV },
	{ "reset 4", -ENODEV },
	{ "reset", -EINVAL },
	{ "fail 0", -EINVAL },
	{ "fail 0 1", -EINVAL },
	{ "fail 0 0 EIO", -EINVAL },
	{ "fail 0 1 EWHAT", -EINVAL },
	{ "fail 0 1 eio", -EINVAL },
	{ "fail 0 1 5", -EINVAL },
	{ "fail 0 1 EIO EIO", -EINVAL },
	{ "fail 4 1 EIO", -ENODEV },
	{ "driver 0", -EINVAL },
	{ "driver 0 a b", -EINVAL },
	{ "driver 0 a234567890123456789012345678901", 0 },
	{ "driver 0 a2345678901234567890123456789012", -EINVAL },
	{ "swap_us", -EINVAL },
	{ "swap_us x", -EINVAL },
	{ "swap_us 100000001", -EINVAL },
	{ "swap_us 100000000", 0 },
	{ "swap_us 0 0", -EINVAL },
	{ "lease 0", -EINVAL },
	{ "lease 0 0", -EINVAL },
	{ "lease 0 -1", -EINVAL },
	{ "lease 0 2147483648", -EINVAL },
	{ "lease 4 1", -ENODEV },
	{ "unlease 4", -ENODEV },
	{ "remove 4", -ENODEV },
	{ "return", -EINVAL },
	{ "unusable 0 1", -EINVAL },
	{ "cap", -EINVAL },
	{ "cap 2", -EINVAL },
	{ "cap yes", -EINVAL },
	{ "cap 0", 0 },
	{ "cap 1", 0 },
	{ "cap own", 0 },
	{ "a b c d e f g h i j k l m n o p", -EINVAL },
	{ " \tdead\t 0 ", 0 },
};

START_TEST(order_gives_its_result)
{
	ck_assert_msg(bs_sim_order(ctx, grammar[_i].order) == grammar[_i].ret,
		      "'%s'", grammar[_i].order);
}
END_TEST

START_TEST(order_that_is_too_long_returns_einval)
{
	char text[4096];

	memset(text, ' ', sizeof(text));
	memcpy(text, "dead 0", 6);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(bs_sim_order(ctx, text), -EINVAL);
}
END_TEST

START_TEST(fail_hits_the_nth_acquire_once_and_leaves_the_slot_empty)
{
	order("fail 1 2 EIO");
	ck_assert_int_eq(acquire(1), 0);
	ck_assert_int_eq(acquire(1), 0); /* programs nothing: not counted */
	ck_assert_int_eq(acquire(0), 0);
	ck_assert_int_eq(acquire(1), -EIO);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert(support_faults(vram[0]));
	ck_assert(support_faults(vram[1]));
	check_last_error(1, "die 1 0000:04:00.0: acquire: injected EIO");
	ck_assert_int_eq(acquire(1), 0);
	ck_assert_uint_eq(info_of(1).acquires, 3);
}
END_TEST

static const struct {
	const char *order;
	int error;
	int active;
} failures[] = {
	{ "fail 1 1 EBUSY", EBUSY, 0 },    { "fail 1 1 EINVAL", EINVAL, 0 },
	{ "fail 1 1 ENODEV", ENODEV, 0 },  { "fail 1 1 EPERM", EPERM, 0 },
	{ "fail 1 1 EINTR", EINTR, 0 },    { "fail 1 1 EIO", EIO, -1 },
	{ "fail 1 1 ENOMEM", ENOMEM, -1 },
};

START_TEST(fail_leaves_the_slot_as_the_module_would)
{
	ck_assert_int_eq(acquire(0), 0);
	order(failures[_i].order);
	ck_assert_int_eq(acquire(1), -failures[_i].error);
	ck_assert_int_eq(bs_active_die(ctx), failures[_i].active);
}
END_TEST

START_TEST(dead_die_faults_and_is_not_acquired)
{
	struct bs_health health;

	ck_assert_int_eq(acquire(2), 0);
	vram[2][0] = 'd';
	order("dead 2");
	ck_assert(support_faults(vram[2]));
	ck_assert_int_eq(info_of(2).alive, 1);
	ck_assert_int_eq(bs_check(ctx, 2, &health), 0);
	ck_assert_int_eq(health.in_slot, 1);
	ck_assert_int_eq(health.alive, 0);
	/* the check found it; nobody looked before */
	ck_assert_int_eq(info_of(2).alive, 0);
	ck_assert_int_eq(info_of(2).state, BS_STATE_DEAD);
	ck_assert_int_eq(bs_zero(ctx, 2, 0, 1), -EIO);

	ck_assert_int_eq(acquire(2), -EIO);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert_int_eq(acquire(2), -EIO);
	check_last_error(2, "die 2 0000:07:00.0: acquire: BAR0 reads 0xffffffff");
	ck_assert_int_eq(acquire(1), 0);
	ck_assert_int_eq(acquire(2), -EIO);
	ck_assert_int_eq(bs_active_die(ctx), -1);

	order("revive 2");
	ck_assert_int_eq(acquire(2), 0);
	ck_assert_int_eq(info_of(2).alive, 1);
	ck_assert_int_eq(vram[2][0], 'd');
	/* it may have lost power meanwhile */
	ck_assert_uint_eq(info_of(2).generation, 1);
}
END_TEST

START_TEST(revive_in_the_slot_shows_the_contents_again)
{
	ck_assert_int_eq(acquire(0), 0);
	vram[0][5] = 'r';
	order("dead 0");
	order("revive 0");
	ck_assert(!support_faults(vram[0]));
	ck_assert_int_eq(vram[0][5], 'r');
	ck_assert_int_eq(info_of(0).state, BS_STATE_ACTIVE);
}
END_TEST

static sigjmp_buf copy_jump;
static atomic_ulong n_copied;

static void on_copy_fault(int sig)
{
	(void)sig;
	siglongjmp(copy_jump, 1);
}

/* Ends only with SIGBUS. */
static void *copy_for_ever(void *arg)
{
	char *from = arg;

	if (sigsetjmp(copy_jump, 1))
		return "faulted";
	for (size_t i = 0;; i = (i + 64) % VRAM) {
		support_peek(from + i);
		n_copied++;
	}
}

START_TEST(dead_stops_a_copy_that_is_running)
{
	struct sigaction action = { .sa_handler = on_copy_fault }, old;
	pthread_t copier;
	void *answer;

	n_copied = 0;
	sigaction(SIGBUS, &action, &old);
	ck_assert_int_eq(acquire(3), 0);
	pthread_create(&copier, NULL, copy_for_ever, vram[3]);
	support_wait_until(n_copied > 10000);
	order("dead 3");
	pthread_join(copier, &answer);
	sigaction(SIGBUS, &old, NULL);
	ck_assert_str_eq(answer, "faulted");
}
END_TEST

/* A die that falls off the bus while it is swapped in does not come in. */
static void *acquire_die_0(void *arg)
{
	*(int *)arg = acquire(0);
	return NULL;
}

START_TEST(dead_during_a_swap_fails_the_acquire)
{
	pthread_t swapper;
	int ret = 0;

	ck_assert_int_eq(acquire(1), 0);
	order("swap_us 100000");
	pthread_create(&swapper, NULL, acquire_die_0, &ret);
	support_wait_until(bs_active_die(ctx) == -1);
	order("dead 0");
	ck_assert_int_eq(bs_active_die(ctx), -1);
	pthread_join(swapper, NULL);
	ck_assert_int_eq(ret, -EIO);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert(support_faults(vram[0]));
}
END_TEST

START_TEST(reset_loses_the_contents_and_raises_the_generation)
{
	ck_assert_int_eq(acquire(0), 0);
	memset(vram[0], 'x', VRAM);
	order("reset 0");
	ck_assert_int_eq(bs_active_die(ctx), 0);
	ck_assert_int_eq(vram[0][0], 0);
	ck_assert_uint_eq(info_of(0).generation, 1);
	order("reset 1");
	ck_assert_uint_eq(info_of(1).generation, 1);
}
END_TEST

START_TEST(driver_keeps_a_die_where_it_is)
{
	order("cap 1");
	order("driver 1 nvidia");
	ck_assert_str_eq(info_of(1).driver, "nvidia");
	ck_assert_int_eq(acquire(0), 0);
	ck_assert_int_eq(acquire(1), -EBUSY);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	check_last_error(1, "die 1 0000:04:00.0: acquire: driver nvidia is "
			    "bound to die 1");
	ck_assert_int_eq(bs_acquire_flags(ctx, 1, BS_FORCE | BS_FORCE_SBR, NULL),
			 -EBUSY);
	ck_assert_int_eq(bs_acquire_flags(ctx, 1, BS_FORCE, NULL), 0);
	ck_assert_int_eq(acquire(1), 0);
	ck_assert_int_eq(acquire(0), -EBUSY);
	check_last_error(0, "die 0 0000:03:00.0: acquire: driver nvidia is "
			    "bound to die 1");
	ck_assert_int_eq(bs_release_die(ctx, 1), -EBUSY);
	ck_assert_int_eq(bs_active_die(ctx), 1);
	ck_assert_int_eq(bs_release_flags(ctx, 1, BS_FORCE), 0);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	order("driver 1 none");
	ck_assert_str_eq(info_of(1).driver, "");
	ck_assert_int_eq(acquire(1), 0);
}
END_TEST

static const unsigned int rawio_flags[] = { BS_FORCE, BS_FORCE_SBR,
					    BS_DRIVER_MEM };

START_TEST(force_needs_the_capability)
{
	order("driver 1 nvidia");
	order("cap 0");
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, rawio_flags[_i], NULL), -EPERM);
	order("cap 1");
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, rawio_flags[_i], NULL), 0);
	ck_assert_int_eq(bs_acquire_flags(ctx, 1, BS_FORCE, NULL), 0);
	order("cap 0");
	ck_assert_int_eq(bs_release_flags(ctx, 1, BS_FORCE), -EPERM);
	/* nothing to force */
	ck_assert_int_eq(bs_release_flags(ctx, 0, BS_FORCE), 0);
}
END_TEST

START_TEST(memory_of_a_driver_is_nobodys)
{
	struct bs_health health;

	order("cap 1");
	ck_assert_int_eq(acquire(0), 0);
	vram[0][0] = 'm';
	order("driver 0 nvidia");
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(bs_zero(ctx, 0, 0, 1), -EBUSY);
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_int_eq(health.driver, 1);
	/* the die is in: nothing is swapped, and nothing shown */
	ck_assert_int_eq(acquire(0), 0);
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_FORCE, NULL), 0);
	ck_assert(support_faults(vram[0]));
	order("driver 0 none");
	ck_assert(!support_faults(vram[0]));

	order("driver 0 nvidia");
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_DRIVER_MEM, NULL), 0);
	ck_assert(!support_faults(vram[0]));
	ck_assert_int_eq(vram[0][0], 'm');
}
END_TEST

START_TEST(virtual_lasts_until_an_acquire_without_a_driver)
{
	order("cap 1");
	order("driver 0 nvidia");
	order("virtual 0");
	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_FORCE, NULL), 0);
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_VIRTUAL);
	order("driver 0 none");
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_PHYSICAL);
	ck_assert(!support_faults(vram[0]));
}
END_TEST

START_TEST(virtual_is_told_by_a_check_and_mended_by_an_acquire)
{
	struct bs_health health;

	ck_assert_int_eq(acquire(0), 0);
	order("virtual 0");
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_int_eq(health.bar1_mode, BS_MODE_VIRTUAL);
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(acquire(0), 0);
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_PHYSICAL);
	ck_assert(!support_faults(vram[0]));
}
END_TEST

START_TEST(stuck_bar1_is_noticed_by_a_check)
{
	struct bs_health health;

	ck_assert_int_eq(acquire(0), 0);
	order("stuck 0");
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_PHYSICAL);
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_int_eq(health.bar1_mode, BS_MODE_VIRTUAL);
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_VIRTUAL);
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(acquire(0), 0);
	ck_assert(support_faults(vram[0]));
	order("physical 0");
	ck_assert_int_eq(acquire(0), 0);
	ck_assert_int_eq(info_of(0).bar1_mode, BS_MODE_PHYSICAL);
	ck_assert(!support_faults(vram[0]));
}
END_TEST

START_TEST(removed_die_is_enodev_until_it_returns)
{
	struct bs_health health;

	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_LEASE, NULL), 0);
	order("remove 0");
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert_int_eq(info_of(0).state, BS_STATE_DEAD);
	ck_assert_int_eq(info_of(0).leased, 0);
	check_last_error(0, "die 0 0000:03:00.0: removed");
	ck_assert_int_eq(acquire(0), -ENODEV);
	ck_assert_int_eq(bs_release_die(ctx, 0), -ENODEV);
	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	ck_assert_int_eq(bs_check(ctx, 0, &health), -ENODEV);
	ck_assert_int_eq(bs_sim_order(ctx, "driver 0 nvidia"), -ENODEV);
	ck_assert_int_eq(acquire(1), 0);
	order("return 0");
	ck_assert_int_eq(info_of(0).state, BS_STATE_IDLE);
	ck_assert_uint_eq(info_of(0).generation, 1);
	ck_assert_int_eq(acquire(0), 0);
	ck_assert(!support_faults(vram[0]));
}
END_TEST

START_TEST(stranger_on_a_card_makes_both_its_dies_unusable)
{
	ck_assert_int_eq(bs_acquire_flags(ctx, 1, BS_LEASE, NULL), 0);
	order("unusable 0");
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert(support_faults(vram[1]));
	for (int die = 0; die < 2; die++) {
		ck_assert_int_eq(info_of(die).state, BS_STATE_UNUSABLE);
		ck_assert_int_eq(acquire(die), -EBUSY);
		ck_assert_int_eq(bs_release_die(ctx, die), 0);
	}
	ck_assert_int_eq(acquire(2), 0);
	order("usable 0");
	ck_assert_int_eq(acquire(1), 0);
}
END_TEST

START_TEST(novram_die_comes_in_without_its_memory)
{
	bs_context *fresh = bs_init_device(OPTIONS);
	struct bs_health health;
	size_t len;
	bs_gpu *gpu;
	void *addr;

	order("novram 0");
	ck_assert_int_eq(info_of(0).state, BS_STATE_IDLE);
	ck_assert_int_eq(acquire(0), 0);
	ck_assert_int_eq(info_of(0).state, BS_STATE_NO_VRAM);
	/* mapped while all was well */
	ck_assert_int_eq(bs_vram(ctx, 0, &addr, &len), 0);
	ck_assert(support_faults(vram[0]));
	ck_assert_int_eq(bs_zero(ctx, 0, 0, 1), -EIO);
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_int_eq(health.alive, 1);

	order("vram 0");
	ck_assert_int_eq(info_of(0).state, BS_STATE_ACTIVE);
	ck_assert(!support_faults(vram[0]));
	order("novram 0");
	ck_assert(support_faults(vram[0]));

	/* never mapped before */
	ck_assert_int_eq(bs_sim_order(fresh, "novram 0"), 0);
	gpu = bs_acquire(fresh, 0);
	ck_assert_ptr_nonnull(gpu);
	ck_assert_ptr_null(gpu->vram);
	ck_assert_int_eq(bs_vram(fresh, 0, &addr, &len), -EIO);
	bs_release(fresh, gpu);
	bs_free(fresh);
}
END_TEST

static void *lease_2(void *arg)
{
	*(int *)arg = bs_sim_order(ctx, "lease 2 77");
	return NULL;
}

START_TEST(foreign_lease_waits_for_ours)
{
	pthread_t other;
	int ret = -1;

	ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_LEASE, NULL), 0);
	pthread_create(&other, NULL, lease_2, &ret);
	support_wait_until(info_of(1).waiters == 1);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	pthread_join(other, NULL);
	ck_assert_int_eq(ret, 0);
	ck_assert_int_eq(bs_active_die(ctx), 2);
	ck_assert_int_eq(info_of(0).leased, 0);
	ck_assert_int_eq(info_of(2).holder_pid, 77);
	ck_assert(!support_faults(vram[2]));
	order("unlease 1");
	ck_assert_int_eq(info_of(2).leased, 1);
	order("unlease 2");
	ck_assert_int_eq(info_of(2).leased, 0);
	ck_assert_int_eq(bs_active_die(ctx), 2);
}
END_TEST

START_TEST(foreign_lease_is_refused_what_an_acquire_is)
{
	order("driver 0 nvidia");
	ck_assert_int_eq(bs_sim_order(ctx, "lease 0 1"), -EBUSY);
	order("remove 1");
	ck_assert_int_eq(bs_sim_order(ctx, "lease 1 1"), -ENODEV);
	order("dead 2");
	ck_assert_int_eq(bs_sim_order(ctx, "lease 2 1"), -EIO);
}
END_TEST

Suite *dev_sim_ctl_suite(void)
{
	Suite *suite = suite_create("dev_sim_ctl");
	TCase *words = tcase_create("grammar");
	TCase *faults = tcase_create("faults");

	tcase_add_checked_fixture(words, setup, teardown);
	tcase_add_loop_test(words, order_gives_its_result, 0,
			    ARRAY_SIZE(grammar));
	tcase_add_test(words, order_that_is_too_long_returns_einval);
	suite_add_tcase(suite, words);

	tcase_add_checked_fixture(faults, setup, teardown);
	tcase_add_test(faults,
		       fail_hits_the_nth_acquire_once_and_leaves_the_slot_empty);
	tcase_add_loop_test(faults, fail_leaves_the_slot_as_the_module_would, 0,
			    ARRAY_SIZE(failures));
	tcase_add_test(faults, dead_die_faults_and_is_not_acquired);
	tcase_add_test(faults, revive_in_the_slot_shows_the_contents_again);
	tcase_add_test(faults, dead_stops_a_copy_that_is_running);
	tcase_add_test(faults, dead_during_a_swap_fails_the_acquire);
	tcase_add_test(faults,
		       reset_loses_the_contents_and_raises_the_generation);
	tcase_add_test(faults, driver_keeps_a_die_where_it_is);
	tcase_add_loop_test(faults, force_needs_the_capability, 0,
			    ARRAY_SIZE(rawio_flags));
	tcase_add_test(faults, memory_of_a_driver_is_nobodys);
	tcase_add_test(faults, virtual_lasts_until_an_acquire_without_a_driver);
	tcase_add_test(faults,
		       virtual_is_told_by_a_check_and_mended_by_an_acquire);
	tcase_add_test(faults, stuck_bar1_is_noticed_by_a_check);
	tcase_add_test(faults, removed_die_is_enodev_until_it_returns);
	tcase_add_test(faults, stranger_on_a_card_makes_both_its_dies_unusable);
	tcase_add_test(faults, novram_die_comes_in_without_its_memory);
	tcase_add_test(faults, foreign_lease_waits_for_ours);
	tcase_add_test(faults, foreign_lease_is_refused_what_an_acquire_is);
	suite_add_tcase(suite, faults);
	return suite;
}
