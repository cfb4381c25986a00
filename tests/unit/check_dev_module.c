// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module as a device, with its ioctls mocked. The node is a sparse file,
 * so that mmap is the system's own and shows which offset was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "kmod/uapi/bar_swap.h"
#include "lib/barswap.h"
#include "mock_ioctl.h"
#include "suites.h"
#include "support.h"

#define DIES 6
#define VRAM (64 * KIB)

static char *dir, *node;
static bs_context *ctx;

static const struct bs_version version = {
	.abi_major = BS_ABI_MAJOR,
	.abi_minor = BS_ABI_MINOR + 1,
	.release = "1.0",
};
static const struct bs_query_info vacant = {
	.n_dies = DIES,
	.n_slots = 1,
	.active_die = BS_NO_DIE,
};
static const struct mock_ioctl_call opening[] = {
	{ .request = BAR_SWAP_VERSION, .out = &version },
	{ .request = BAR_SWAP_QUERY, .other_fd = true, .out = &vacant },
};

static void make_node(void)
{
	int fd;

	dir = support_tempdir();
	node = strdup(support_path(dir, "bar_swap"));
	fd = open(node, O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)DIES << BS_MMAP_DIE_SHIFT), 0);
	close(fd);
	mock_ioctl_start();
}

static void remove_node(void)
{
	mock_ioctl_stop();
	free(node);
	support_remove(dir);
}

static void setup(void)
{
	make_node();
	mock_ioctl_expect(opening, ARRAY_SIZE(opening));
	ctx = bs_init_device(node);
	ck_assert_ptr_nonnull(ctx);
	ck_assert_uint_eq(mock_ioctl_left(), 0);
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
	ck_assert_uint_eq(mock_ioctl_left(), 0);
	remove_node();
}

static void expect(const struct mock_ioctl_call *call)
{
	mock_ioctl_expect(call, 1);
}

/* another major version, and a minor one that cannot tell of drivers */
static const struct bs_version others[] = {
	{ .abi_major = BS_ABI_MAJOR + 1, .abi_minor = BS_ABI_MINOR },
	{ .abi_major = BS_ABI_MAJOR, .abi_minor = BS_ABI_MINOR - 1 },
};

START_TEST(open_other_version_returns_eproto)
{
	const struct mock_ioctl_call call = { .request = BAR_SWAP_VERSION,
					      .out = &others[_i] };
	int n_fds = support_n_entries("/proc/self/fd");

	expect(&call);
	errno = 0;
	ck_assert_ptr_null(bs_init_device(node));
	ck_assert_int_eq(errno, EPROTO);
	ck_assert_uint_eq(mock_ioctl_left(), 0);
	ck_assert_int_eq(support_n_entries("/proc/self/fd"), n_fds);
}
END_TEST

START_TEST(open_no_module_node_returns_the_error)
{
	static const struct mock_ioctl_call call = { .request = BAR_SWAP_VERSION,
						     .error = ENOTTY };

	expect(&call);
	errno = 0;
	ck_assert_ptr_null(bs_init_device(node));
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

START_TEST(open_with_too_many_dies_returns_eproto)
{
	static const struct bs_query_info many = { .n_dies = BS_MAX_DIES + 1 };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_VERSION, .out = &version },
		{ .request = BAR_SWAP_QUERY, .other_fd = true, .out = &many },
	};

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	errno = 0;
	ck_assert_ptr_null(bs_init_device(node));
	ck_assert_int_eq(errno, EPROTO);
}
END_TEST

START_TEST(open_gives_name_and_counts)
{
	ck_assert_str_eq(bs_device_name(ctx), "bar_swap");
	ck_assert_uint_eq(bs_num_dies(ctx), DIES);
	ck_assert_uint_eq(bs_num_slots(ctx), 1);
	ck_assert_int_eq(bs_sim_order(ctx, "dead 0"), -EOPNOTSUPP);
	ck_assert_int_eq(bs_zero(ctx, 0, 0, 1), -EOPNOTSUPP);
}
END_TEST

START_TEST(active_die_is_asked_without_rearming_poll)
{
	static const struct bs_query_info two_in = { .n_dies = DIES,
						     .n_slots = 1,
						     .mapped = { 0, 0, 1 },
						     .active_die = 2 };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_QUERY, .out = &two_in },
		{ .request = BAR_SWAP_QUERY, .out = &two_in },
		{ .request = BAR_SWAP_QUERY, .out = &two_in },
		{ .request = BAR_SWAP_QUERY, .out = &vacant },
		{ .request = BAR_SWAP_QUERY, .error = EIO },
		{ .request = BAR_SWAP_QUERY, .error = EIO },
	};

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(bs_active_die(ctx), 2);
	ck_assert_int_eq(bs_is_mapped(ctx, 2), 1);
	ck_assert_int_eq(bs_is_mapped(ctx, 1), 0);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert_int_eq(bs_active_die(ctx), -1);
	ck_assert_int_eq(bs_is_mapped(ctx, 2), 0);
}
END_TEST

START_TEST(refresh_rearms_poll_and_takes_the_counts)
{
	static const struct bs_query_info five = { .n_dies = 5,
						   .n_slots = 1,
						   .active_die = BS_NO_DIE };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_QUERY, .other_fd = true, .out = &five },
		{ .request = BAR_SWAP_QUERY, .other_fd = true, .error = EIO },
	};

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(bs_refresh(ctx), 0);
	ck_assert_uint_eq(bs_num_dies(ctx), 5);
	errno = 0;
	ck_assert_int_eq(bs_refresh(ctx), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(bs_num_dies(ctx), 5);
	ck_assert_int_ge(bs_poll_fd(ctx), 0);
	ck_assert_int_ge(bs_lease_fd(ctx), 0);
	ck_assert_int_ne(bs_lease_fd(ctx), bs_poll_fd(ctx));
}
END_TEST

static const struct {
	unsigned int flags;
	__u32 bits;
} flag_map[] = {
	{ 0, 0 },
	{ BS_FORCE_SBR, BS_ACQUIRE_FORCE_SBR },
	{ BS_NOWAIT, BS_ACQUIRE_NOWAIT },
	{ BS_FORCE, BS_ACQUIRE_FORCE },
	{ BS_FORCE | BS_NOWAIT, BS_ACQUIRE_FORCE | BS_ACQUIRE_NOWAIT },
};

START_TEST(acquire_passes_die_and_flags)
{
	struct bs_acquire_req in = { .die_id = 3, .flags = flag_map[_i].bits };
	struct mock_ioctl_call call = { .request = BAR_SWAP_ACQUIRE, .in = &in };

	expect(&call);
	ck_assert_int_eq(bs_acquire_flags(ctx, 3, flag_map[_i].flags, NULL), 0);
}
END_TEST

static const int errors[] = { EBUSY, ENODEV, EIO, EINTR, EPERM, ENOMEM };

START_TEST(call_that_fails_returns_the_error_after_one_try)
{
	const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_ACQUIRE, .error = errors[_i] },
		{ .request = BAR_SWAP_RELEASE, .error = errors[_i] },
		{ .request = BAR_SWAP_UNLEASE, .error = errors[_i] },
		{ .request = BAR_SWAP_CHECK, .error = errors[_i] },
		{ .request = BAR_SWAP_DIE_INFO, .error = errors[_i] },
		{ .request = BAR_SWAP_DIE_INFO, .error = errors[_i] },
	};
	struct bs_health health;
	struct bs_info info;
	bs_gpu *gpu = NULL;
	size_t len;
	void *addr;

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(bs_acquire_flags(ctx, 1, BS_LEASE, &gpu), -errors[_i]);
	ck_assert_ptr_null(gpu);
	ck_assert_int_eq(bs_release_die(ctx, 1), -errors[_i]);
	ck_assert_int_eq(bs_unlease(ctx, 1), -errors[_i]);
	ck_assert_int_eq(bs_check(ctx, 1, &health), -errors[_i]);
	ck_assert_int_eq(bs_die_info(ctx, 1, &info), -errors[_i]);
	ck_assert_int_eq(bs_vram(ctx, 1, &addr, &len), -errors[_i]);
}
END_TEST

START_TEST(lease_is_ended_by_free)
{
	static const struct bs_acquire_req acquire = { .die_id = 4,
						       .flags = BS_ACQUIRE_LEASE };
	static const struct bs_release_req unlease = { .die_id = 4 };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_ACQUIRE, .in = &acquire },
		{ .request = BAR_SWAP_UNLEASE, .in = &unlease },
	};

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(bs_acquire_flags(ctx, 4, BS_LEASE, NULL), 0);
	bs_free(ctx);
	ctx = NULL;
}
END_TEST

START_TEST(release_and_unlease_pass_the_die)
{
	static const struct bs_release_req in = { .die_id = 5 };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_RELEASE, .in = &in },
		{ .request = BAR_SWAP_UNLEASE, .in = &in },
	};

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(bs_release_die(ctx, 5), 0);
	ck_assert_int_eq(bs_unlease(ctx, 5), 0);
}
END_TEST

START_TEST(release_by_force_says_so_to_the_module)
{
	static const struct bs_release_req in = { .die_id = 5,
						  .flags = BS_RELEASE_FORCE };
	static const struct mock_ioctl_call call = { .request = BAR_SWAP_RELEASE,
						     .in = &in };

	expect(&call);
	ck_assert_int_eq(bs_release_flags(ctx, 5, BS_FORCE), 0);
}
END_TEST

START_TEST(check_gives_what_the_module_found)
{
	static const struct bs_check in = { .die_id = 2 };
	static const struct bs_check out = {
		.die_id = 2,
		.in_slot = 1,
		.alive = 0,
		.generation = 1ULL << 40,
		.driver = 1,
		.bar1_mode = BS_BAR1_VIRTUAL,
	};
	static const struct mock_ioctl_call call = { .request = BAR_SWAP_CHECK,
						     .in = &in,
						     .out = &out };
	struct bs_health health;

	expect(&call);
	ck_assert_int_eq(bs_check(ctx, 2, &health), 0);
	ck_assert_int_eq(health.in_slot, 1);
	ck_assert_int_eq(health.alive, 0);
	ck_assert_uint_eq(health.generation, 1ULL << 40);
	ck_assert_int_eq(health.driver, 1);
	ck_assert_int_eq(health.bar1_mode, BS_MODE_VIRTUAL);
}
END_TEST

/* clang-format off */
START_TEST(info_gives_every_field)
{
	static const struct bs_die_info in = { .die_id = 1 };
	static const struct bs_die_info out = {
		.die_id = 1, .state = BS_DIE_NO_VRAM,
		.flags = BS_DIE_F_ALIVE | BS_DIE_F_LEASED_HERE,
		.bar1_mode = BS_BAR1_VIRTUAL, .bdf = "0000:04:00.0",
		.vendor = 1, .device = 2, .subvendor = 3, .subdevice = 4,
		.bar0_addr = 5, .bar1_addr = 6, .bar3_addr = 7,
		.bar0_size = 8, .bar1_size = 9, .bar3_size = 10,
		.vram_bytes = 11, .resmem_bytes = 12, .generation = 13,
		.resets = 14, .acquires = 15, .swaps_in = 16, .swaps_out = 17,
		.last_swap_ns = 18, .waiters = 19, .holder_pid = 20,
		.holder_comm = "holder", .driver = "nvidia",
		.last_error = "what happened",
	};
	static const struct bs_info want = {
		.state = BS_STATE_NO_VRAM,
		.alive = 1, .leased = 0, .leased_here = 1,
		.bar1_mode = BS_MODE_VIRTUAL, .bdf = "0000:04:00.0",
		.vendor = 1, .device = 2, .subvendor = 3, .subdevice = 4,
		.bar0_addr = 5, .bar1_addr = 6, .bar3_addr = 7,
		.bar0_size = 8, .bar1_size = 9, .bar3_size = 10,
		.vram_bytes = 11, .resmem_bytes = 12, .generation = 13,
		.resets = 14, .acquires = 15, .swaps_in = 16, .swaps_out = 17,
		.last_swap_ns = 18, .waiters = 19, .holder_pid = 20,
		.holder_comm = "holder", .driver = "nvidia",
		.last_error = "what happened",
	};
	static const struct mock_ioctl_call call = {
		.request = BAR_SWAP_DIE_INFO, .in = &in, .out = &out
	};
	struct bs_info info;

	memset(&info, 0xff, sizeof(info));
	expect(&call);
	ck_assert_int_eq(bs_die_info(ctx, 1, &info), 0);
	ck_assert_mem_eq(&info, &want, sizeof(info));
}
END_TEST
/* clang-format on */

static const struct {
	uint32_t flags;
	int cache;
} caches[] = {
	{ BS_DIE_F_ALIVE, BS_CACHE_NONE },
	{ BS_DIE_F_ALIVE | BS_DIE_F_BAR1_WC, BS_CACHE_WC },
	{ BS_DIE_F_BAR1_UC, BS_CACHE_UC },
};

START_TEST(info_tells_how_bar1_is_cached)
{
	static const struct bs_die_info in = { .die_id = 1 };
	struct bs_die_info out = { .die_id = 1, .flags = caches[_i].flags };
	struct mock_ioctl_call call = { .request = BAR_SWAP_DIE_INFO,
					.in = &in,
					.out = &out };
	struct bs_info info;

	expect(&call);
	ck_assert_int_eq(bs_die_info(ctx, 1, &info), 0);
	ck_assert_int_eq(info.bar1_cache, caches[_i].cache);
}
END_TEST

/* what a die of VRAM bytes answers */
static const struct bs_die_info sized = { .vram_bytes = VRAM };

START_TEST(vram_is_mapped_once_at_the_offset_of_the_die)
{
	static const struct mock_ioctl_call call = { .request = BAR_SWAP_DIE_INFO,
						     .out = &sized };
	char byte = 0;
	void *addr, *again;
	size_t len;
	int fd;

	expect(&call);
	ck_assert_int_eq(bs_vram(ctx, 5, &addr, &len), 0);
	ck_assert_int_eq(bs_vram(ctx, 5, &again, &len), 0);
	ck_assert_ptr_eq(addr, again);
	ck_assert_uint_eq(len, VRAM);
	((char *)addr)[VRAM - 1] = 'z';
	fd = open(node, O_RDONLY);
	ck_assert_int_eq(pread(fd, &byte, 1,
			       ((off_t)5 << BS_MMAP_DIE_SHIFT) + VRAM - 1),
			 1);
	ck_assert_int_eq(byte, 'z');
	close(fd);
}
END_TEST

START_TEST(acquire_of_unmappable_memory_still_gives_a_handle)
{
	/* mmap refuses no bytes: as the module refuses what it may not show */
	static const struct bs_die_info none = { .vram_bytes = 0 };
	static const struct bs_acquire_req done = { .bar1_addr = 0xC00000000,
						    .bar1_size = 16 * GIB };
	static const struct bs_release_req release = { .die_id = 1 };
	static const struct mock_ioctl_call calls[] = {
		{ .request = BAR_SWAP_ACQUIRE, .out = &done },
		{ .request = BAR_SWAP_DIE_INFO, .out = &none },
		/* not remembered: the next one may be luckier */
		{ .request = BAR_SWAP_DIE_INFO, .out = &sized },
		{ .request = BAR_SWAP_RELEASE, .in = &release },
	};
	bs_gpu *gpu;
	size_t len;
	void *addr;

	mock_ioctl_expect(calls, ARRAY_SIZE(calls));
	gpu = bs_acquire(ctx, 1);
	ck_assert_ptr_nonnull(gpu);
	ck_assert_ptr_null(gpu->vram);
	ck_assert_uint_eq(gpu->vram_mapped_size, 0);
	ck_assert_uint_eq(gpu->bar1_addr, 0xC00000000);
	ck_assert_uint_eq(gpu->bar1_size, 16 * GIB);
	ck_assert_int_ge(gpu->mem_fd, 0);
	ck_assert_int_eq(bs_vram(ctx, 1, &addr, &len), 0);
	bs_release(ctx, gpu);
}
END_TEST

Suite *dev_module_suite(void)
{
	Suite *suite = suite_create("dev_module");
	TCase *opened = tcase_create("opened");
	TCase *closed = tcase_create("closed");

	tcase_add_checked_fixture(closed, make_node, remove_node);
	tcase_add_loop_test(closed, open_other_version_returns_eproto, 0,
			    ARRAY_SIZE(others));
	tcase_add_test(closed, open_no_module_node_returns_the_error);
	tcase_add_test(closed, open_with_too_many_dies_returns_eproto);
	suite_add_tcase(suite, closed);

	tcase_add_checked_fixture(opened, setup, teardown);
	tcase_add_test(opened, open_gives_name_and_counts);
	tcase_add_test(opened, active_die_is_asked_without_rearming_poll);
	tcase_add_test(opened, refresh_rearms_poll_and_takes_the_counts);
	tcase_add_loop_test(opened, acquire_passes_die_and_flags, 0,
			    ARRAY_SIZE(flag_map));
	tcase_add_loop_test(opened,
			    call_that_fails_returns_the_error_after_one_try, 0,
			    ARRAY_SIZE(errors));
	tcase_add_test(opened, lease_is_ended_by_free);
	tcase_add_test(opened, release_and_unlease_pass_the_die);
	tcase_add_test(opened, release_by_force_says_so_to_the_module);
	tcase_add_test(opened, check_gives_what_the_module_found);
	tcase_add_test(opened, info_gives_every_field);
	tcase_add_loop_test(opened, info_tells_how_bar1_is_cached, 0,
			    ARRAY_SIZE(caches));
	tcase_add_test(opened, vram_is_mapped_once_at_the_offset_of_the_die);
	tcase_add_test(opened, acquire_of_unmappable_memory_still_gives_a_handle);
	suite_add_tcase(suite, opened);
	return suite;
}
