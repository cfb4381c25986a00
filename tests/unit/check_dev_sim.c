// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated slot: counters, leases, the time a swap takes. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "suites.h"
#include "support.h"

#define DIES    16
#define OPTIONS "sim:dies=16,vram=64K"
#define FOREIGN 1 /* a pid that exists */

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

static int acquire(int die, unsigned int flags)
{
	return bs_acquire_flags(ctx, die, flags, NULL);
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

/* An acquire in a thread of its own. */
struct acquirer {
	pthread_t thread;
	int die;
	unsigned int flags;
	int ret;
	atomic_bool is_done;
};

static void *run_acquirer(void *arg)
{
	struct acquirer *a = arg;

	a->ret = acquire(a->die, a->flags);
	a->is_done = true;
	return NULL;
}

static void start(struct acquirer *a)
{
	ck_assert_int_eq(pthread_create(&a->thread, NULL, run_acquirer, a), 0);
}

static int finish(struct acquirer *a)
{
	pthread_join(a->thread, NULL);
	return a->ret;
}

static const char *const bdf[] = {
	"0000:03:00.0", "0000:04:00.0", "0000:07:00.0", "0000:08:00.0",
	"0000:0b:00.0", "0000:0c:00.0", "0000:0f:00.0", "0000:10:00.0",
	"0000:13:00.0", "0000:14:00.0", "0000:17:00.0", "0000:18:00.0",
	"0000:1b:00.0", "0000:1c:00.0", "0000:1f:00.0", "0000:20:00.0",
};

START_TEST(info_of_a_fresh_die_is_the_k80s)
{
	struct bs_info info = info_of(_i);
	struct bs_info want = {
		.state = BS_STATE_IDLE,
		.bar1_mode = BS_MODE_UNKNOWN,
		.alive = 1,
		.vendor = 0x10de,
		.device = 0x102d,
		.subvendor = 0x10de,
		.subdevice = 0x106c,
		.bar0_addr = 0xF3000000,
		.bar0_size = 16 * MIB,
		.bar1_addr = 0xC00000000,
		.bar1_size = 64 * KIB,
		.bar3_addr = 0xF4000000,
		.bar3_size = 32 * MIB,
		.vram_bytes = 64 * KIB,
	};

	strcpy(want.bdf, bdf[_i]);
	ck_assert_mem_eq(&info, &want, sizeof(info));
}
END_TEST

START_TEST(acquire_counts_swaps_and_first_reset)
{
	struct bs_info info;

	ck_assert_int_eq(acquire(0, 0), 0);
	ck_assert_int_eq(acquire(0, 0), 0);
	ck_assert_int_eq(acquire(1, 0), 0);
	ck_assert_int_eq(acquire(0, 0), 0);
	info = info_of(0);
	ck_assert_int_eq(info.state, BS_STATE_ACTIVE);
	ck_assert_int_eq(info.bar1_mode, BS_MODE_PHYSICAL);
	ck_assert_int_eq(info.bar1_cache, BS_CACHE_WC);
	ck_assert_uint_eq(info.acquires, 3);
	ck_assert_uint_eq(info.swaps_in, 2);
	ck_assert_uint_eq(info.swaps_out, 1);
	ck_assert_uint_eq(info.resets, 1);
	ck_assert_uint_eq(info.generation, 0);
	ck_assert_int_eq(info_of(1).state, BS_STATE_IDLE);
	ck_assert_int_eq(info_of(1).bar1_cache, BS_CACHE_NONE);
	ck_assert_uint_eq(info_of(1).swaps_out, 1);
}
END_TEST

START_TEST(acquire_with_reset_raises_the_generation)
{
	struct bs_health health;

	ck_assert_int_eq(acquire(0, 0), 0);
	ck_assert_int_eq(acquire(0, BS_FORCE_SBR), 0);
	ck_assert_uint_eq(info_of(0).generation, 1);
	ck_assert_uint_eq(info_of(0).resets, 2);
	ck_assert_uint_eq(info_of(0).swaps_in, 2);
	ck_assert_int_eq(bs_check(ctx, 0, &health), 0);
	ck_assert_uint_eq(health.generation, 1);
	/* asked for, so it counts although it is the first one */
	ck_assert_int_eq(acquire(1, BS_FORCE_SBR), 0);
	ck_assert_uint_eq(info_of(1).generation, 1);
	ck_assert_uint_eq(info_of(1).resets, 1);
}
END_TEST

START_TEST(check_tells_who_is_in)
{
	struct bs_health health;

	for (int in = -1; in < 2; in++) {
		if (in >= 0)
			ck_assert_int_eq(acquire(in, 0), 0);
		for (int die = 0; die < 2; die++) {
			ck_assert_int_eq(bs_check(ctx, die, &health), 0);
			ck_assert_int_eq(health.in_slot, die == in);
			ck_assert_int_eq(health.alive, die == in);
		}
	}
}
END_TEST

START_TEST(lease_is_shown_until_unlease)
{
	struct bs_info info;

	ck_assert_int_eq(acquire(0, BS_LEASE), 0);
	info = info_of(0);
	ck_assert_int_eq(info.leased, 1);
	ck_assert_int_eq(info.leased_here, 1);
	ck_assert_int_eq(info.holder_pid, getpid());
	ck_assert_str_ne(info.holder_comm, "");
	ck_assert_int_eq(info_of(1).leased, 0);

	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	ck_assert_int_eq(info_of(0).leased, 0);
	ck_assert_int_eq(info_of(0).holder_pid, 0);
	ck_assert_int_eq(bs_active_die(ctx), 0);
}
END_TEST

START_TEST(lease_of_our_own_ends_when_the_die_leaves)
{
	ck_assert_int_eq(acquire(0, BS_LEASE), 0);
	ck_assert_int_eq(acquire(1, BS_LEASE | BS_NOWAIT), 0);
	ck_assert_int_eq(info_of(0).leased, 0);
	ck_assert_int_eq(bs_release_die(ctx, 1), 0);
	ck_assert_int_eq(acquire(1, 0), 0);
	ck_assert_int_eq(info_of(1).leased, 0);
}
END_TEST

/* Its die is out for the time of the reset, and nobody comes in between. */
START_TEST(lease_of_our_own_outlives_our_own_reset)
{
	ck_assert_int_eq(acquire(0, BS_LEASE), 0);
	ck_assert_int_eq(acquire(0, BS_FORCE_SBR), 0);
	ck_assert_int_eq(info_of(0).leased_here, 1);
}
END_TEST

START_TEST(foreign_lease_refuses_what_would_disturb_it)
{
	struct bs_info info;

	order("lease 0 1");
	info = info_of(0);
	ck_assert_int_eq(info.state, BS_STATE_ACTIVE);
	ck_assert_int_eq(info.leased, 1);
	ck_assert_int_eq(info.leased_here, 0);
	ck_assert_int_eq(info.holder_pid, FOREIGN);
	ck_assert_str_ne(info.holder_comm, "");

	ck_assert_int_eq(acquire(1, BS_NOWAIT), -EBUSY);
	ck_assert_int_eq(acquire(0, BS_LEASE | BS_NOWAIT), -EBUSY);
	ck_assert_int_eq(acquire(0, BS_FORCE_SBR), -EBUSY);
	ck_assert_int_eq(bs_release_die(ctx, 0), -EBUSY);
	ck_assert_int_eq(bs_unlease(ctx, 0), 0);
	ck_assert_int_eq(info_of(0).holder_pid, FOREIGN);
	/* also the die that is in is the holder's alone */
	ck_assert_int_eq(acquire(0, BS_NOWAIT), -EBUSY);
	ck_assert_int_eq(bs_release_die(ctx, 1), 0);
	order("unlease 0");
	ck_assert_int_eq(bs_active_die(ctx), 0);
	ck_assert_int_eq(acquire(1, BS_NOWAIT), 0);
}
END_TEST

START_TEST(acquire_waits_for_a_foreign_lease)
{
	struct acquirer a = { .die = 1 }, b = { .die = 2 };

	order("lease 0 1");
	start(&a);
	start(&b);
	support_wait_until(info_of(5).waiters == 2);
	ck_assert(!a.is_done && !b.is_done);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	order("unlease 0");
	ck_assert_int_eq(finish(&a), 0);
	ck_assert_int_eq(finish(&b), 0);
	ck_assert_uint_eq(info_of(5).waiters, 0);
	ck_assert_uint_eq(info_of(1).swaps_in, 1);
	ck_assert_uint_eq(info_of(2).swaps_in, 1);
}
END_TEST

/* As to the module: no waiting for a swap of somebody else either. */
START_TEST(acquire_nowait_beside_a_swap_returns_ebusy)
{
	struct acquirer a = { .die = 1 };

	ck_assert_int_eq(acquire(0, 0), 0);
	order("swap_us 300000");
	start(&a);
	support_wait_until(bs_active_die(ctx) == -1);
	ck_assert_int_eq(acquire(2, BS_NOWAIT), -EBUSY);
	ck_assert_int_eq(finish(&a), 0);
}
END_TEST

static void ignore_signal(int sig)
{
	(void)sig;
}

/* Also with SA_RESTART: a waiting acquire must notice any handler. */
START_TEST(acquire_that_waits_ends_with_a_signal)
{
	struct sigaction action = { .sa_handler = ignore_signal,
				    .sa_flags = _i ? SA_RESTART : 0 };
	struct acquirer a = { .die = 1 };
	struct sigaction old;

	sigaction(SIGUSR1, &action, &old);
	order("lease 0 1");
	start(&a);
	support_wait_until(info_of(0).waiters == 1);
	/* it may be counted and not asleep yet, so more than one */
	while (!a.is_done) {
		pthread_kill(a.thread, SIGUSR1);
		support_nap();
	}
	ck_assert_int_eq(finish(&a), -EINTR);
	ck_assert_uint_eq(info_of(0).waiters, 0);
	ck_assert_int_eq(bs_active_die(ctx), 0);
	sigaction(SIGUSR1, &old, NULL);
}
END_TEST

START_TEST(swap_takes_its_time_whatever_signals_come)
{
	struct sigaction action = { .sa_handler = ignore_signal };
	struct acquirer a = { .die = 0 };
	struct sigaction old;

	sigaction(SIGUSR1, &action, &old);
	order("swap_us 30000");
	start(&a);
	while (!a.is_done) {
		pthread_kill(a.thread, SIGUSR1);
		support_nap();
	}
	ck_assert_int_eq(finish(&a), 0);
	ck_assert_uint_ge(info_of(0).last_swap_ns, 30 * NSEC_PER_MSEC);
	sigaction(SIGUSR1, &old, NULL);
}
END_TEST

START_TEST(questions_do_not_wait_for_a_swap)
{
	struct acquirer a = { .die = 1 };
	struct bs_health health;

	ck_assert_int_eq(acquire(0, 0), 0);
	order("swap_us 300000");
	start(&a);
	support_wait_until(bs_active_die(ctx) == -1);
	ck_assert_int_eq(bs_is_mapped(ctx, 1), 0);
	ck_assert_int_eq(bs_check(ctx, 1, &health), 0);
	ck_assert_int_eq(health.in_slot, 0);
	ck_assert_int_eq(info_of(1).state, BS_STATE_IDLE);
	ck_assert_int_eq(bs_refresh(ctx), 0);
	order("fail 3 1 EIO");
	ck_assert(!a.is_done);
	ck_assert_int_eq(finish(&a), 0);
}
END_TEST

START_TEST(acquires_of_many_threads_all_come_in)
{
	struct acquirer a[8];

	for (int i = 0; i < 8; i++) {
		a[i] = (struct acquirer){ .die = i };
		start(&a[i]);
	}
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(finish(&a[i]), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(info_of(i).swaps_in, 1);
}
END_TEST

static atomic_bool stop;

/* What a daemon's copy threads do beside the one that swaps. */
static void *ask_all(void *arg)
{
	(void)arg;
	while (!stop) {
		for (int die = 0; die < DIES; die++) {
			struct bs_health health;
			struct bs_info info;
			size_t len;
			void *addr;

			if (bs_check(ctx, die, &health) ||
			    bs_die_info(ctx, die, &info) ||
			    bs_vram(ctx, die, &addr, &len))
				return "failed";
			if (info.swaps_in - info.swaps_out > 1)
				return "counters torn";
		}
		bs_is_mapped(ctx, 0);
	}
	return NULL;
}

START_TEST(questions_beside_swaps_are_consistent)
{
	pthread_t asker[2];
	void *answer;

	stop = false;
	for (int i = 0; i < 2; i++)
		pthread_create(&asker[i], NULL, ask_all, NULL);
	for (int i = 0; i < 500; i++)
		ck_assert_int_eq(acquire(i % DIES, i % 7 ? 0 : BS_LEASE), 0);
	stop = true;
	for (int i = 0; i < 2; i++) {
		pthread_join(asker[i], &answer);
		ck_assert_ptr_null(answer);
	}
}
END_TEST

static bool has_event(void)
{
	struct pollfd pfd = { .fd = bs_poll_fd(ctx), .events = POLLPRI };

	return poll(&pfd, 1, 0) == 1 && pfd.revents & POLLPRI;
}

static const char *const told[] = {
	"driver 0 nvidia", "driver 1 nvidia", "reset 2",  "lease 0 1",
	"remove 1",        "unusable 1",      "novram 0",
};

START_TEST(poll_tells_of_a_change_until_refresh)
{
	if (bs_poll_fd(ctx) < 0)
		return; /* Linux before 5.15 */
	ck_assert_int_eq(acquire(0, 0), 0);
	ck_assert(has_event());
	ck_assert_int_eq(bs_refresh(ctx), 0);
	ck_assert(!has_event());
	/* neither a question nor a call that changes nothing */
	info_of(0);
	bs_is_mapped(ctx, 0);
	ck_assert_int_eq(acquire(0, 0), 0);
	ck_assert(!has_event());
	order(told[_i]);
	order(told[_i]);
	ck_assert(has_event());
	ck_assert(has_event());
	ck_assert_int_eq(bs_refresh(ctx), 0);
	ck_assert(!has_event());
}
END_TEST

Suite *dev_sim_suite(void)
{
	Suite *suite = suite_create("dev_sim");
	TCase *slot = tcase_create("slot");
	TCase *lease = tcase_create("lease");
	TCase *threads = tcase_create("threads");

	tcase_add_checked_fixture(slot, setup, teardown);
	tcase_add_loop_test(slot, info_of_a_fresh_die_is_the_k80s, 0, DIES);
	tcase_add_test(slot, acquire_counts_swaps_and_first_reset);
	tcase_add_test(slot, acquire_with_reset_raises_the_generation);
	tcase_add_test(slot, check_tells_who_is_in);
	tcase_add_loop_test(slot, poll_tells_of_a_change_until_refresh, 0,
			    ARRAY_SIZE(told));
	suite_add_tcase(suite, slot);

	tcase_add_checked_fixture(lease, setup, teardown);
	tcase_add_test(lease, lease_is_shown_until_unlease);
	tcase_add_test(lease, lease_of_our_own_ends_when_the_die_leaves);
	tcase_add_test(lease, lease_of_our_own_outlives_our_own_reset);
	tcase_add_test(lease, foreign_lease_refuses_what_would_disturb_it);
	tcase_add_test(lease, acquire_waits_for_a_foreign_lease);
	tcase_add_test(lease, acquire_nowait_beside_a_swap_returns_ebusy);
	tcase_add_loop_test(lease, acquire_that_waits_ends_with_a_signal, 0, 2);
	suite_add_tcase(suite, lease);

	tcase_add_checked_fixture(threads, setup, teardown);
	tcase_set_timeout(threads, 60);
	tcase_add_test(threads, swap_takes_its_time_whatever_signals_come);
	tcase_add_test(threads, questions_do_not_wait_for_a_swap);
	tcase_add_test(threads, acquires_of_many_threads_all_come_in);
	tcase_add_test(threads, questions_beside_swaps_are_consistent);
	suite_add_tcase(suite, threads);
	return suite;
}
