// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of simulated dies: who sees it, where it is kept, what clears it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "lib/barswap.h"
#include "suites.h"
#include "support.h"

#define DIES    3
#define VRAM    (1 * MIB)
#define OPTIONS "dies=3,vram=1M"

static bs_context *ctx;
static char *vram[DIES];
static char *dir;

int __wrap_fallocate(int fd, int mode, off_t off, off_t len);
int __real_fallocate(int fd, int mode, off_t off, off_t len);

/* as on a file system that cannot punch holes */
static bool cannot_punch;

int __wrap_fallocate(int fd, int mode, off_t off, off_t len)
{
	if (!cannot_punch)
		return __real_fallocate(fd, mode, off, len);
	errno = EOPNOTSUPP;
	return -1;
}

void *__wrap_mremap(void *from, size_t old_len, size_t new_len, int flags,
		    void *to);
void *__real_mremap(void *from, size_t old_len, size_t new_len, int flags, ...);

/* as on a kernel before 5.13 */
static bool cannot_move;
/* of every range moved, each an address or a length; 0 if there was none */
static uintptr_t moved;

void *__wrap_mremap(void *from, size_t old_len, size_t new_len, int flags,
		    void *to)
{
	if (old_len > 4096)
		moved |= (uintptr_t)from | (uintptr_t)to | old_len | new_len;
	if (!cannot_move)
		return __real_mremap(from, old_len, new_len, flags, to);
	errno = EINVAL;
	return MAP_FAILED;
}

static bs_context *open_in_dir(const char *options)
{
	char device[256];

	snprintf(device, sizeof(device), "sim:%s,dir=%s", options, dir);
	return bs_init_device(device);
}

static void open_ctx(void)
{
	ctx = bs_init_device("sim:" OPTIONS);
	ck_assert_ptr_nonnull(ctx);
	for (int die = 0; die < DIES; die++) {
		size_t len;
		void *addr;

		ck_assert_int_eq(bs_vram(ctx, die, &addr, &len), 0);
		ck_assert_uint_eq(len, VRAM);
		vram[die] = addr;
	}
}

static void acquire(int die)
{
	ck_assert_int_eq(bs_acquire_flags(ctx, die, 0, NULL), 0);
}

static void setup(void)
{
	cannot_punch = false;
	cannot_move = false;
	dir = support_tempdir();
	open_ctx();
}

/* Where page tables cannot be moved, or all of a sudden cannot any more. */
static void setup_no_move(void)
{
	setup();
	bs_free(ctx);
	cannot_move = true;
	open_ctx();
}

static void setup_no_more_move(void)
{
	setup();
	acquire(0);
	cannot_move = true;
}

static void teardown(void)
{
	cannot_punch = false;
	cannot_move = false;
	bs_free(ctx);
	ctx = NULL;
	support_remove(dir);
}

START_TEST(touch_of_a_die_that_is_out_faults)
{
	for (int in = -1; in < DIES; in++) {
		if (in >= 0)
			acquire(in);
		else if (bs_active_die(ctx) >= 0)
			ck_assert_int_eq(bs_release_die(ctx, 0), 0);
		for (int die = 0; die < DIES; die++) {
			ck_assert_int_eq(support_faults(vram[die]), die != in);
			ck_assert_int_eq(support_faults(vram[die] + VRAM - 1),
					 die != in);
		}
	}
	ck_assert_int_eq(bs_release_die(ctx, DIES - 1), 0);
	ck_assert(support_faults(vram[DIES - 1]));
}
END_TEST

START_TEST(vram_keeps_its_contents_and_address_over_swaps)
{
	for (int die = 0; die < DIES; die++) {
		acquire(die);
		ck_assert_int_eq(vram[die][0], 0);
		memset(vram[die], 'a' + die, VRAM);
	}
	for (int die = 0; die < DIES; die++) {
		size_t len;
		void *addr;

		acquire(die);
		ck_assert_int_eq(bs_vram(ctx, die, &addr, &len), 0);
		ck_assert_ptr_eq(addr, vram[die]);
		ck_assert_int_eq(vram[die][0], 'a' + die);
		ck_assert_mem_eq(vram[die], vram[die] + 1, VRAM - 1);
	}
}
END_TEST

static sigjmp_buf read_jump;
static atomic_bool stop;
static atomic_uint n_read;

static void on_read_fault(int sig)
{
	(void)sig;
	siglongjmp(read_jump, 1);
}

/* Reads die 0 whoever is in. Returns NULL if it never saw but its bytes. */
static void *read_die_0(void *arg)
{
	(void)arg;
	sigsetjmp(read_jump, 1);
	while (!stop) {
		if (support_peek(vram[0]) != 'a')
			return "another die's byte";
		n_read++;
	}
	return NULL;
}

/* Replacing a mapping is atomic: SIGBUS or the die's own byte, no SIGSEGV. */
/* However small the die: moving less costs more. */
START_TEST(swap_moves_upper_page_tables_alone)
{
	moved = 0;
	for (int die = 0; die < DIES; die++) {
		bs_gpu *gpu = bs_acquire(ctx, die);

		ck_assert_ptr_nonnull(gpu);
		bs_release(ctx, gpu);
	}
	ck_assert_uint_gt(moved, 0);
	ck_assert_uint_eq(moved % GIB, 0);
}
END_TEST

START_TEST(touch_beside_swaps_shows_own_bytes_or_faults)
{
	struct sigaction action = { .sa_handler = on_read_fault }, old;
	pthread_t reader;
	void *answer;

	for (int die = 0; die < DIES; die++) {
		acquire(die);
		memset(vram[die], 'a' + die, VRAM);
	}
	stop = false;
	n_read = 0;
	sigaction(SIGBUS, &action, &old);
	pthread_create(&reader, NULL, read_die_0, NULL);
	for (int i = 0; i < 2000 || !n_read; i++)
		acquire(i % DIES);
	stop = true;
	pthread_join(reader, &answer);
	sigaction(SIGBUS, &old, NULL);
	ck_assert_ptr_null(answer);
}
END_TEST

START_TEST(zero_clears_the_range_and_nothing_else)
{
	static const struct {
		size_t off, len;
	} parts[] = { { 1, 1 },
		      { 4095, 2 },
		      { 5000, 9000 },
		      { VRAM - 1, 1 },
		      { 65536, 65536 } };
	static char want[VRAM];

	cannot_punch = _i;
	acquire(0);
	memset(vram[0], 'x', VRAM);
	memset(want, 'x', VRAM);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ck_assert_int_eq(bs_zero(ctx, 0, parts[i].off, parts[i].len), 0);
		memset(want + parts[i].off, 0, parts[i].len);
		ck_assert_mem_eq(vram[0], want, VRAM);
	}
}
END_TEST

START_TEST(zero_of_a_die_that_is_out_returns_enxio)
{
	ck_assert_int_eq(bs_zero(ctx, 0, 0, 1), -ENXIO);
	acquire(1);
	ck_assert_int_eq(bs_zero(ctx, 0, 0, 1), -ENXIO);
}
END_TEST

START_TEST(zero_gives_the_blocks_back)
{
	struct stat before, after;
	bs_gpu *gpu = bs_acquire(ctx, 0);

	memset(gpu->vram, 'x', VRAM);
	fsync(gpu->mem_fd);
	fstat(gpu->mem_fd, &before);
	ck_assert_int_eq(bs_zero(ctx, 0, 0, VRAM), 0);
	fstat(gpu->mem_fd, &after);
	ck_assert_int_lt(after.st_blocks, before.st_blocks);
	bs_release(ctx, gpu);
}
END_TEST

/* With and without holes, by an acquire and by surprise. */
START_TEST(reset_clears_all_of_the_memory)
{
	cannot_punch = _i & 1;
	acquire(0);
	memset(vram[0], 'x', VRAM);
	if (_i & 2)
		ck_assert_int_eq(bs_sim_order(ctx, "reset 0"), 0);
	else
		ck_assert_int_eq(bs_acquire_flags(ctx, 0, BS_FORCE_SBR, NULL), 0);
	ck_assert_int_eq(vram[0][0], 0);
	ck_assert_mem_eq(vram[0], vram[0] + 1, VRAM - 1);
}
END_TEST

START_TEST(files_without_dir_have_no_name)
{
	const char *before = getenv("TMPDIR");
	char *saved = before ? strdup(before) : NULL;
	bs_context *sim;
	struct stat st;
	bs_gpu *gpu;

	setenv("TMPDIR", dir, 1);
	sim = bs_init_device("sim:" OPTIONS);
	ck_assert_ptr_nonnull(sim);
	ck_assert_int_eq(support_n_entries(dir), 0);
	gpu = bs_acquire(sim, 0);
	fstat(gpu->mem_fd, &st);
	ck_assert_uint_eq(st.st_nlink, 0);
	ck_assert_int_eq(st.st_size, VRAM);
	bs_release(sim, gpu);
	bs_free(sim);

	setenv("TMPDIR", "/nonexistent", 1);
	errno = 0;
	ck_assert_ptr_null(bs_init_device("sim:" OPTIONS));
	ck_assert_int_eq(errno, ENOENT);
	if (saved)
		setenv("TMPDIR", saved, 1);
	else
		unsetenv("TMPDIR");
	free(saved);
}
END_TEST

START_TEST(dir_keeps_the_memory_for_the_next_context)
{
	bs_context *first = open_in_dir(OPTIONS), *second;
	struct stat st;
	bs_gpu *gpu;

	gpu = bs_acquire(first, 2);
	memset(gpu->vram, 'k', VRAM);
	bs_release(first, gpu);
	bs_free(first);
	ck_assert_int_eq(support_n_entries(dir), DIES);
	ck_assert_int_eq(stat(support_path(dir, "die2"), &st), 0);
	ck_assert_int_eq(st.st_size, VRAM);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);

	/* its first acquire "resets" the die and must not clear it */
	second = open_in_dir(OPTIONS);
	gpu = bs_acquire(second, 2);
	ck_assert_int_eq(((char *)gpu->vram)[0], 'k');
	ck_assert_int_eq(((char *)gpu->vram)[VRAM - 1], 'k');
	bs_release(second, gpu);
	bs_free(second);
}
END_TEST

START_TEST(dir_in_use_returns_ebusy)
{
	bs_context *first = open_in_dir(OPTIONS), *second;

	ck_assert_ptr_nonnull(first);
	errno = 0;
	ck_assert_ptr_null(open_in_dir(OPTIONS));
	ck_assert_int_eq(errno, EBUSY);
	bs_free(first);
	second = open_in_dir(OPTIONS);
	ck_assert_ptr_nonnull(second);
	bs_free(second);
}
END_TEST

START_TEST(dir_with_another_size_returns_einval_and_keeps_the_file)
{
	char why[PATH_MAX + 64];
	struct stat st;

	bs_free(open_in_dir(OPTIONS));
	errno = 0;
	ck_assert_ptr_null(open_in_dir("dies=3,vram=2M"));
	ck_assert_int_eq(errno, EINVAL);
	snprintf(why, sizeof(why), "%s holds 1 MiB, not 2 MiB",
		 support_path(dir, "die0"));
	ck_assert_str_eq(bs_init_why(), why);
	ck_assert_int_eq(stat(support_path(dir, "die0"), &st), 0);
	ck_assert_int_eq(st.st_size, VRAM);
	bs_free(open_in_dir(OPTIONS));
	ck_assert_str_eq(bs_init_why(), "");
}
END_TEST

START_TEST(dir_that_is_refused_is_left_as_it_was)
{
	bs_free(open_in_dir(OPTIONS));
	ck_assert_int_eq(unlink(support_path(dir, "die0")), 0);
	ck_assert_int_eq(unlink(support_path(dir, "die1")), 0);
	ck_assert_ptr_null(open_in_dir("dies=3,vram=2M"));
	ck_assert_int_eq(support_n_entries(dir), 1);
	/* and is good as it was */
	bs_free(open_in_dir(OPTIONS));
	ck_assert_int_eq(support_n_entries(dir), DIES);
}
END_TEST

START_TEST(dir_with_something_else_for_a_die_fails)
{
	char why[PATH_MAX + 64];

	ck_assert_int_eq(mkdir(support_path(dir, "die1"), 0700), 0);
	errno = 0;
	ck_assert_ptr_null(open_in_dir(OPTIONS));
	ck_assert_int_eq(errno, EISDIR);
	ck_assert_int_eq(rmdir(support_path(dir, "die1")), 0);
	ck_assert_int_eq(mkfifo(support_path(dir, "die1"), 0600), 0);
	ck_assert_ptr_null(open_in_dir(OPTIONS));
	ck_assert_int_eq(errno, EINVAL);
	snprintf(why, sizeof(why), "%s: not a regular file",
		 support_path(dir, "die1"));
	ck_assert_str_eq(bs_init_why(), why);
}
END_TEST

START_TEST(init_and_free_leave_no_descriptor)
{
	int before = support_n_entries("/proc/self/fd");

	bs_free(bs_init_device("sim:" OPTIONS));
	bs_free(open_in_dir(OPTIONS));
	ck_assert_ptr_null(open_in_dir("dies=3,vram=2M"));
	ck_assert_ptr_null(bs_init_device("sim:ctl=/nonexistent/ctl"));
	ck_assert_int_eq(support_n_entries("/proc/self/fd"), before);
}
END_TEST

static TCase *make_shown(const char *name, void (*start)(void))
{
	TCase *shown = tcase_create(name);

	tcase_add_checked_fixture(shown, start, teardown);
	tcase_add_test(shown, touch_of_a_die_that_is_out_faults);
	tcase_add_test(shown, touch_beside_swaps_shows_own_bytes_or_faults);
	tcase_set_timeout(shown, 60);
	tcase_add_test(shown, vram_keeps_its_contents_and_address_over_swaps);
	return shown;
}

Suite *dev_sim_mem_suite(void)
{
	Suite *suite = suite_create("dev_sim_mem");
	TCase *memory = tcase_create("memory");
	TCase *files = tcase_create("files");

	suite_add_tcase(suite, make_shown("shown", setup));
	suite_add_tcase(suite, make_shown("no_move", setup_no_move));
	suite_add_tcase(suite, make_shown("no_more_move", setup_no_more_move));

	tcase_add_checked_fixture(memory, setup, teardown);
	tcase_add_test(memory, swap_moves_upper_page_tables_alone);
	tcase_add_loop_test(memory, zero_clears_the_range_and_nothing_else, 0, 2);
	tcase_add_test(memory, zero_of_a_die_that_is_out_returns_enxio);
	tcase_add_test(memory, zero_gives_the_blocks_back);
	tcase_add_loop_test(memory, reset_clears_all_of_the_memory, 0, 4);
	suite_add_tcase(suite, memory);

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, files_without_dir_have_no_name);
	tcase_add_test(files, dir_keeps_the_memory_for_the_next_context);
	tcase_add_test(files, dir_in_use_returns_ebusy);
	tcase_add_test(files,
		       dir_with_another_size_returns_einval_and_keeps_the_file);
	tcase_add_test(files, dir_that_is_refused_is_left_as_it_was);
	tcase_add_test(files, dir_with_something_else_for_a_die_fails);
	tcase_add_test(files, init_and_free_leave_no_descriptor);
	suite_add_tcase(suite, files);
	return suite;
}
