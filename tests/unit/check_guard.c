// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies from and to memory that vanishes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "copy/copy.h"
#include "copy/guard.h"
#include "suites.h"
#include "support.h"

#define PAGE 4096
#define LEN  (16 * PAGE)

static int fd;
static char *dev; /* LEN bytes of a file */
static char buf[LEN];
static struct sigaction before;

static void setup(void)
{
	sigaction(SIGBUS, NULL, &before);
	ck_assert_int_eq(guard_init(), 0);
	fd = memfd_create("guard", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, LEN), 0);
	dev = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(dev, MAP_FAILED);
	memset(dev, 'd', LEN);
	memset(buf, 'b', LEN);
}

static void teardown(void)
{
	munmap(dev, LEN);
	close(fd);
	sigaction(SIGBUS, &before, NULL);
}

/* The pages from @off on are gone from now on. */
static void cut(off_t off)
{
	ck_assert_int_eq(ftruncate(fd, off), 0);
}

static void plain_copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
}

START_TEST(copy_of_memory_that_is_there_returns_0)
{
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), 0);
	ck_assert_mem_eq(buf, dev, LEN);
	memset(buf, 'n', LEN);
	ck_assert_int_eq(guard_copy(plain_copy, dev, buf, LEN, dev), 0);
	ck_assert_mem_eq(buf, dev, LEN);
}
END_TEST

/* Where the hole starts; also in the last bytes. */
static const off_t cuts[] = { 0, PAGE, 8 * PAGE, LEN - PAGE };

START_TEST(read_of_pages_that_are_gone_returns_eio)
{
	cut(cuts[_i]);
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), -EIO);
	/* what is still there can be read, and the next copy is an ordinary one */
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, (size_t)cuts[_i], dev),
			 0);
	ck_assert_int_eq(ftruncate(fd, LEN), 0);
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), 0);
}
END_TEST

START_TEST(write_to_pages_that_are_gone_returns_eio)
{
	cut(cuts[_i]);
	ck_assert_int_eq(guard_copy(plain_copy, dev, buf, LEN, dev), -EIO);
	ck_assert_int_eq(guard_copy(plain_copy, dev, buf, (size_t)cuts[_i], dev),
			 0);
}
END_TEST

/* The routines that really run there, at odd places. */
START_TEST(every_copy_routine_can_be_jumped_out_of)
{
	const struct copy_variant *variants;
	size_t n = copy_variants(&variants);

	cut(8 * PAGE);
	for (size_t i = 0; i < n; i++) {
		if (!variants[i].is_usable())
			continue;
		for (size_t off = 0; off < 3; off++) {
			ck_assert_int_eq(guard_copy(variants[i].ops.from_dev,
						    buf, dev + off, LEN - off,
						    dev + off),
					 -EIO);
			ck_assert_int_eq(guard_copy(variants[i].ops.to_dev,
						    dev + off, buf, LEN - off,
						    dev + off),
					 -EIO);
		}
	}
}
END_TEST

static sigjmp_buf foreign_jump;
static const void *foreign_addr;

static void on_foreign_info(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	foreign_addr = si->si_addr;
	siglongjmp(foreign_jump, 1);
}

static void on_foreign(int sig)
{
	(void)sig;
	foreign_addr = dev;
	siglongjmp(foreign_jump, 1);
}

/* A program's own handler, there before ours, goes on working. */
START_TEST(fault_of_others_goes_to_the_handler_that_was_there)
{
	struct sigaction theirs = { .sa_flags = _i ? SA_SIGINFO : 0 };

	if (_i)
		theirs.sa_sigaction = on_foreign_info;
	else
		theirs.sa_handler = on_foreign;
	sigaction(SIGBUS, &theirs, NULL);
	ck_assert_int_eq(guard_init(), 0);
	/* twice: it must not take itself for theirs */
	ck_assert_int_eq(guard_init(), 0);
	cut(0);
	foreign_addr = NULL;
	if (!sigsetjmp(foreign_jump, 1))
		support_peek(dev);
	ck_assert_ptr_eq(foreign_addr, dev);
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), -EIO);
}
END_TEST

START_TEST(many_faults_in_a_row_are_each_an_eio)
{
	cut(0);
	for (int i = 0; i < 1000; i++)
		support_assert(guard_copy(plain_copy, buf, dev, LEN, dev) == -EIO);
}
END_TEST

struct copier {
	pthread_t thread;
	char *dev;
	bool is_gone;
	unsigned int n_wrong;
};

static pthread_barrier_t barrier;

static void *run_copier(void *arg)
{
	struct copier *c = arg;
	char own[PAGE];

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 500; i++) {
		int ret = guard_copy(plain_copy, own, c->dev, PAGE, c->dev);

		c->n_wrong += ret != (c->is_gone ? -EIO : 0);
		if (!ret)
			c->n_wrong += own[0] != 'd' || own[PAGE - 1] != 'd';
	}
	return NULL;
}

/* A fault is of the copy that met it, whatever other threads do. */
START_TEST(fault_in_one_thread_leaves_copies_of_others_alone)
{
	struct copier c[8];

	cut(8 * PAGE);
	pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(c));
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = (struct copier){ .dev = dev + i * 2 * PAGE,
					.is_gone = i >= 4 };
		ck_assert_int_eq(
			pthread_create(&c[i].thread, NULL, run_copier, &c[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		pthread_join(c[i].thread, NULL);
		ck_assert_uint_eq(c[i].n_wrong, 0);
	}
	pthread_barrier_destroy(&barrier);
}
END_TEST

static void touch_outside(void *dst, const void *src, size_t len)
{
	(void)dst;
	(void)len;
	(void)*(const volatile char *)src;
}

/* How a child ends that touches memory that is gone: its signal. */
static int signal_of(bool in_guard)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child) {
		/* not the handler of a test before, or a sanitizer's */
		signal(SIGBUS, SIG_DFL);
		guard_init();
		/* the page behind the one that is guarded */
		if (in_guard)
			guard_copy(touch_outside, buf, dev + 8 * PAGE, PAGE, dev);
		else
			touch_outside(NULL, dev + 8 * PAGE, 1);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(fault_anywhere_else_ends_the_process)
{
	cut(8 * PAGE);
	ck_assert_int_eq(signal_of(_i), SIGBUS);
}
END_TEST

START_TEST(fault_after_a_guarded_copy_ends_the_process)
{
	cut(8 * PAGE);
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), -EIO);
	ck_assert_int_eq(signal_of(false), SIGBUS);
}
END_TEST

/* _i: whether the handler runs with all signals blocked, as those that the
 * thread sanitizer wraps do */
START_TEST(fault_leaves_the_signal_mask_as_it_was)
{
	struct sigaction handler;
	sigset_t mask;

	sigaction(SIGBUS, NULL, &handler);
	if (_i)
		sigfillset(&handler.sa_mask);
	sigaction(SIGBUS, &handler, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	cut(8 * PAGE);
	ck_assert_int_eq(guard_copy(plain_copy, buf, dev, LEN, dev), -EIO);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		ck_assert_int_eq(sigismember(&mask, sig), sig == SIGUSR1);
	sigemptyset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
END_TEST

Suite *guard_suite(void)
{
	Suite *suite = suite_create("guard");
	TCase *copy = tcase_create("copy");
	TCase *outside = tcase_create("outside");

	tcase_add_checked_fixture(copy, setup, teardown);
	tcase_add_test(copy, copy_of_memory_that_is_there_returns_0);
	tcase_add_loop_test(copy, read_of_pages_that_are_gone_returns_eio, 0,
			    ARRAY_SIZE(cuts));
	tcase_add_loop_test(copy, write_to_pages_that_are_gone_returns_eio, 0,
			    ARRAY_SIZE(cuts));
	tcase_add_test(copy, every_copy_routine_can_be_jumped_out_of);
	tcase_add_loop_test(
		copy, fault_of_others_goes_to_the_handler_that_was_there, 0, 2);
	tcase_add_test(copy, many_faults_in_a_row_are_each_an_eio);
	tcase_add_test(copy, fault_in_one_thread_leaves_copies_of_others_alone);
	tcase_add_loop_test(copy, fault_leaves_the_signal_mask_as_it_was, 0, 2);
	suite_add_tcase(suite, copy);

	tcase_add_checked_fixture(outside, setup, teardown);
	tcase_add_loop_test(outside, fault_anywhere_else_ends_the_process, 0, 2);
	tcase_add_test(outside, fault_after_a_guarded_copy_ends_the_process);
	suite_add_tcase(suite, outside);
	return suite;
}
