// SPDX-License-Identifier: GPL-2.0-or-later
/* libk80mem: what it asks of the file, of k80fs's socket and of CUDA. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/util.h"
#include "cuda/cuda.h"
#include "fake_memory.h"
#include "k80mem/k80mem.h"
#include "k80mem/wire.h"
#include "mem/share.h"
#include "mock_ioctl.h"
#include "suites.h"
#include "support.h"

#define CHUNK    FAKE_MEMORY_CHUNK
#define BASE     ((CUdeviceptr)1 << 40) /* what is reserved starts there */
#define DEVICES  3
#define DEVICE   1 /* the file's */
#define N_CHUNKS 300

/* ---- a driver -------------------------------------------------------------- */

enum call { RESERVE, IMPORT, MAP, ACCESS, N_CALLS };

/**
 * struct gpu - what was done to it
 * @fail:     this call fails, from its @fail_at'th on; N_CALLS: none
 * @handles:  not released
 */
static struct {
	bool is_missing, is_old;
	int current; /* device of the context, -1: there is none */
	enum call fail;
	unsigned int fail_at;
	unsigned int calls[N_CALLS];
	uint64_t reserved;
	int handles;
	unsigned int n_mapped;
	int access;
	bool has_odd_uuid;
} gpu;

int __wrap_cuda_open(char *why, size_t len);
int __real_cuda_open(char *why, size_t len);
bool __wrap_cuda_has_vmm(void);
bool __real_cuda_has_vmm(void);
int __wrap_fstatfs(int fd, struct statfs *st);
int __real_fstatfs(int fd, struct statfs *st);

static bool is_on; /* what is wrapped is ours */
static long fs_type;

int __wrap_cuda_open(char *why, size_t len)
{
	if (!is_on)
		return __real_cuda_open(why, len);
	snprintf(why, len, "libcuda.so.1: none");
	return gpu.is_missing ? -ENOENT : 0;
}

bool __wrap_cuda_has_vmm(void)
{
	return is_on ? !gpu.is_old : __real_cuda_has_vmm();
}

int __wrap_fstatfs(int fd, struct statfs *st)
{
	int ret = __real_fstatfs(fd, st);

	if (is_on)
		st->f_type = fs_type;
	return ret;
}

static CUresult call(enum call c)
{
	gpu.calls[c]++;
	return gpu.fail == c && gpu.calls[c] >= gpu.fail_at
		       ? CUDA_ERROR_OUT_OF_MEMORY
		       : CUDA_SUCCESS;
}

static CUresult fake_name(CUresult err, const char **name)
{
	*name = err == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
						: "CUDA_ERROR_OTHER";
	return CUDA_SUCCESS;
}

static CUresult fake_current(CUdevice *dev)
{
	*dev = gpu.current;
	return gpu.current < 0 ? 201 : CUDA_SUCCESS;
}

static CUresult fake_count(int *count)
{
	*count = DEVICES;
	return CUDA_SUCCESS;
}

static CUresult fake_get(CUdevice *dev, int ordinal)
{
	*dev = ordinal;
	return CUDA_SUCCESS;
}

static CUresult fake_uuid(struct cuda_uuid *uuid, CUdevice dev)
{
	memset(uuid, dev == DEVICE && !gpu.has_odd_uuid ? FAKE_MEMORY_UUID : dev,
	       sizeof(*uuid));
	return CUDA_SUCCESS;
}

static CUresult fake_reserve(CUdeviceptr *ptr, size_t len, size_t align,
			     CUdeviceptr wanted, unsigned long long flags)
{
	(void)align;
	(void)wanted;
	(void)flags;
	support_assert(!gpu.reserved && len);
	if (call(RESERVE))
		return CUDA_ERROR_OUT_OF_MEMORY;
	gpu.reserved = len;
	*ptr = BASE;
	return CUDA_SUCCESS;
}

static CUresult fake_unreserve(CUdeviceptr ptr, size_t len)
{
	support_assert(ptr == BASE && len == gpu.reserved && !gpu.n_mapped);
	gpu.reserved = 0;
	return CUDA_SUCCESS;
}

/* A handle is the size of the descriptor's file. */
static CUresult fake_import(CUmemHandle *handle, void *fd, int type)
{
	struct stat st;

	support_assert(type == CU_MEM_HANDLE_TYPE_POSIX_FD &&
		       !fstat((int)(intptr_t)fd, &st));
	if (call(IMPORT))
		return CUDA_ERROR_OUT_OF_MEMORY;
	gpu.handles++;
	*handle = (CUmemHandle)st.st_size;
	return CUDA_SUCCESS;
}

static CUresult fake_release(CUmemHandle handle)
{
	(void)handle;
	gpu.handles--;
	return CUDA_SUCCESS;
}

static CUresult fake_map(CUdeviceptr ptr, size_t len, size_t off,
			 CUmemHandle handle, unsigned long long flags)
{
	(void)flags;
	support_assert(len == CHUNK && !off && handle <= N_CHUNKS &&
		       ptr == BASE + (handle - 1) * CHUNK &&
		       ptr + len <= BASE + gpu.reserved);
	if (call(MAP))
		return CUDA_ERROR_OUT_OF_MEMORY;
	gpu.n_mapped++;
	return CUDA_SUCCESS;
}

static CUresult fake_unmap(CUdeviceptr ptr, size_t len)
{
	support_assert(len == CHUNK && !((ptr - BASE) & (CHUNK - 1)) &&
		       ptr + len <= BASE + gpu.reserved);
	gpu.n_mapped--;
	return CUDA_SUCCESS;
}

static CUresult fake_access(CUdeviceptr ptr, size_t len,
			    const struct cuda_access *access, size_t n)
{
	support_assert(ptr == BASE && len == gpu.reserved && n == 1 &&
		       access->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
		       access->location.id == DEVICE);
	if (call(ACCESS))
		return CUDA_ERROR_OUT_OF_MEMORY;
	gpu.access = access->flags;
	return CUDA_SUCCESS;
}

/* ---- k80fs ----------------------------------------------------------------- */

static char *dir;
static struct share *share;
static int fd; /* the file */
static int n_fds; /* open before anything was mapped */
static struct k80_share answer;
static struct mock_ioctl_call asked;

static void setup(void)
{
	memset(&gpu, 0, sizeof(gpu));
	gpu.current = DEVICE;
	gpu.fail = N_CALLS;
	cuda = (struct cuda){
		.cuGetErrorName = fake_name,
		.cuCtxGetDevice = fake_current,
		.cuDeviceGetCount = fake_count,
		.cuDeviceGet = fake_get,
		.cuDeviceGetUuid_v2 = fake_uuid,
		.cuMemAddressReserve = fake_reserve,
		.cuMemAddressFree = fake_unreserve,
		.cuMemImportFromShareableHandle = fake_import,
		.cuMemRelease = fake_release,
		.cuMemMap = fake_map,
		.cuMemUnmap = fake_unmap,
		.cuMemSetAccess = fake_access,
	};
	is_on = true;
	fs_type = 0x65735546;
	fake_memory_reset(N_CHUNKS);
	dir = support_tempdir();
	ck_assert_int_eq(share_start(&share, dir, &fake_memory_source), 0);
	fd = open(support_path(dir, "file"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	n_fds = support_n_entries("/proc/self/fd");
	mock_ioctl_start();
}

static void teardown(void)
{
	mock_ioctl_stop();
	is_on = false;
	support_wait_until(!fake_memory.n_out);
	support_wait_until(support_n_entries("/proc/self/fd") == n_fds);
	close(fd);
	share_stop(share);
	support_remove(dir);
	/* whatever happened, nothing of it is left */
	ck_assert_uint_eq(gpu.reserved, 0);
	ck_assert_int_eq(gpu.handles, 0);
	ck_assert_uint_eq(gpu.n_mapped, 0);
}

/* The next ioctl is K80_SHARE, and answered as k80fs would, or fails. */
static void expect_share(int error)
{
	if (!error)
		ck_assert_int_eq(
			share_token(share, fake_memory_file, 0, &answer), 0);
	asked = (struct mock_ioctl_call){
		.request = K80_SHARE,
		.out = error ? NULL : &answer,
		.error = error,
	};
	mock_ioctl_expect(&asked, 1);
}

static void expect_refusal(int error, const char *words)
{
	struct k80_map *map = NULL;

	ck_assert_int_eq(k80_map_fd(fd, 0, &map), error);
	ck_assert_ptr_null(map);
	ck_assert_msg(strstr(k80_error(), words), "'%s' has no '%s'",
		      k80_error(), words);
	ck_assert_uint_eq(mock_ioctl_left(), 0);
}

START_TEST(map_puts_the_chunks_behind_one_another)
{
	struct k80_map *map;

	expect_share(0);
	ck_assert_int_eq(k80_map_fd(fd, 0, &map), 0);
	ck_assert_str_eq(k80_error(), "");
	ck_assert_uint_eq(k80_map_ptr(map), BASE);
	ck_assert_uint_eq(k80_map_len(map), N_CHUNKS * CHUNK - 1);
	ck_assert_uint_eq(gpu.n_mapped, N_CHUNKS);
	ck_assert_uint_eq(gpu.reserved, N_CHUNKS * CHUNK);
	/* the memory is kept by the mapping alone */
	ck_assert_int_eq(gpu.handles, 0);
	ck_assert_int_eq(gpu.access, CU_MEM_ACCESS_READ);
	k80_unmap(map);
}
END_TEST

START_TEST(map_to_write_allows_that)
{
	struct k80_map *map;

	expect_share(0);
	ck_assert_int_eq(k80_map_fd(fd, K80_MAP_WRITE, &map), 0);
	ck_assert_int_eq(gpu.access, CU_MEM_ACCESS_READWRITE);
	k80_unmap(map);
}
END_TEST

START_TEST(map_of_an_empty_file_has_no_bytes)
{
	struct k80_map *map;

	fake_memory.n_chunks = 0;
	expect_share(0);
	ck_assert_int_eq(k80_map_fd(fd, 0, &map), 0);
	ck_assert_uint_eq(k80_map_ptr(map), 0);
	ck_assert_uint_eq(k80_map_len(map), 0);
	ck_assert_uint_eq(gpu.calls[RESERVE], 0);
	k80_unmap(map);
}
END_TEST

START_TEST(map_with_unknown_flags_is_refused)
{
	struct k80_map *map;

	ck_assert_int_eq(k80_map_fd(fd, 4, &map), -EINVAL);
}
END_TEST

START_TEST(map_without_a_context_asks_nothing)
{
	gpu.current = -1;
	expect_refusal(-ENXIO, "no CUDA context");
}
END_TEST

START_TEST(map_in_a_context_of_another_device_is_refused)
{
	gpu.current = 2;
	expect_share(0);
	expect_refusal(-EXDEV,
		       "GPU-a5a5a5a5-a5a5-a5a5-a5a5-a5a5a5a5a5a5, the current "
		       "context on GPU-02020202-");
	/* it was not even bought */
	ck_assert_int_eq(fake_memory.counted, 1);
}
END_TEST

START_TEST(map_without_a_driver_is_refused)
{
	gpu.is_missing = true;
	expect_refusal(-ENOENT, "libcuda.so.1");
	gpu.is_missing = false;
	gpu.is_old = true;
	expect_refusal(-ENOSYS, "newer");
}
END_TEST

START_TEST(map_of_a_file_of_another_file_system_makes_no_ioctl)
{
	fs_type = 0xef53;
	expect_refusal(-ENOTTY, "not a file of k80fs");
}
END_TEST

START_TEST(map_of_what_is_no_file_makes_no_ioctl)
{
	struct k80_map *map;
	int folder = open(dir, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(k80_map_fd(folder, 0, &map), -ENOTTY);
	ck_assert_int_eq(k80_map_fd(-1, 0, &map), -EBADF);
	close(folder);
}
END_TEST

static const struct {
	int error, ret;
	const char *words;
} refusals[] = {
	{ ENOTTY, -ENOTTY, "dieN/mem" },
	{ ENOSYS, -ENOTTY, "dieN/mem" },
	{ EACCES, -EACCES, "reading and writing" },
	{ ENOSPC, -ENOSPC, "holes" },
	{ EAGAIN, -EAGAIN, "try again" },
	{ EIO, -EIO, "Input/output error" },
};

START_TEST(map_that_k80fs_refuses_says_why)
{
	expect_share(refusals[_i].error);
	expect_refusal(refusals[_i].ret, refusals[_i].words);
}
END_TEST

START_TEST(map_with_a_token_that_was_spent_is_refused)
{
	struct k80_map *map;

	expect_share(0);
	ck_assert_int_eq(k80_map_fd(fd, 0, &map), 0);
	mock_ioctl_expect(&asked, 1);
	expect_refusal(-EACCES, "token");
	k80_unmap(map);
}
END_TEST

static const struct {
	enum call call;
	unsigned int at;
	const char *words;
} failures[] = {
	{ RESERVE, 1, "cuMemAddressReserve: CUDA_ERROR_OUT_OF_MEMORY" },
	{ IMPORT, 1, "cuMemImportFromShareableHandle: CUDA_ERROR" },
	{ IMPORT, N_CHUNKS, "cuMemImportFromShareableHandle: CUDA_ERROR" },
	{ MAP, 1, "cuMemMap: CUDA_ERROR" },
	{ MAP, 250, "cuMemMap: CUDA_ERROR" },
	{ ACCESS, 1, "cuMemSetAccess: CUDA_ERROR" },
};

/* the teardown looks for what is left */
START_TEST(map_that_cuda_refuses_is_taken_back)
{
	gpu.fail = failures[_i].call;
	gpu.fail_at = failures[_i].at;
	expect_share(0);
	expect_refusal(-ENOMEM, failures[_i].words);
}
END_TEST

START_TEST(unmap_of_nothing_does_nothing)
{
	k80_unmap(NULL);
}
END_TEST

START_TEST(map_of_a_path_that_is_not_there_says_so)
{
	struct k80_map *map;

	ck_assert_int_eq(k80_map_path("/no/such", 0, &map), -ENOENT);
	ck_assert_str_eq(k80_error(), "/no/such: No such file or directory");
}
END_TEST

START_TEST(device_of_a_file_is_found_by_its_uuid)
{
	struct k80_where where = { .len = 1 };
	const struct mock_ioctl_call call_where = { .request = K80_WHERE,
						    .out = &where };
	int ordinal = -1;

	gpu.current = -1;
	memset(where.uuid, FAKE_MEMORY_UUID, sizeof(where.uuid));
	mock_ioctl_expect(&call_where, 1);
	ck_assert_int_eq(k80_device(fd, &ordinal), 0);
	ck_assert_int_eq(ordinal, DEVICE);
	gpu.has_odd_uuid = true;
	mock_ioctl_expect(&call_where, 1);
	ck_assert_int_eq(k80_device(fd, &ordinal), -ENODEV);
	ck_assert_ptr_nonnull(strstr(k80_error(), "CUDA_VISIBLE_DEVICES"));
}
END_TEST

Suite *k80mem_suite(void)
{
	Suite *s = suite_create("k80mem");
	TCase *tc = tcase_create("map");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, map_puts_the_chunks_behind_one_another);
	tcase_add_test(tc, map_to_write_allows_that);
	tcase_add_test(tc, map_of_an_empty_file_has_no_bytes);
	tcase_add_test(tc, map_with_unknown_flags_is_refused);
	tcase_add_test(tc, map_without_a_context_asks_nothing);
	tcase_add_test(tc, map_in_a_context_of_another_device_is_refused);
	tcase_add_test(tc, map_without_a_driver_is_refused);
	tcase_add_test(tc, map_of_a_file_of_another_file_system_makes_no_ioctl);
	tcase_add_test(tc, map_of_what_is_no_file_makes_no_ioctl);
	tcase_add_loop_test(tc, map_that_k80fs_refuses_says_why, 0,
			    ARRAY_SIZE(refusals));
	tcase_add_test(tc, map_with_a_token_that_was_spent_is_refused);
	tcase_add_loop_test(tc, map_that_cuda_refuses_is_taken_back, 0,
			    ARRAY_SIZE(failures));
	tcase_add_test(tc, unmap_of_nothing_does_nothing);
	tcase_add_test(tc, map_of_a_path_that_is_not_there_says_so);
	tcase_add_test(tc, device_of_a_file_is_found_by_its_uuid);
	suite_add_tcase(s, tc);
	return s;
}
