// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chunks of the CUDA backend, over the stand-in libcuda. What other processes
 * do needs tests that have a process each: with CK_FORK=no it is left out.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/util.h"
#include "cuda/cuda.h"
#include "owner/try.h"
#include "suites.h"
#include "support.h"

#define VRAM (64 * MIB)
#define UNIT (2 * MIB)
#define OLD  0xee /* what the stand-in's fresh memory holds */

/* what a stream's piece of work takes where it is to be slow */
#define COPY_US "20000"

static struct backend be;
static bool is_open;
static unsigned char buf[8 * MIB], want[8 * MIB];
static char *dir, *orders;
static uint64_t far; /* an offset for chunks */

static void find_standin(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	strcpy(strrchr(path, '/'), "/cuda");
	setenv("LD_LIBRARY_PATH", path, 1);
	strcat(path, "/libcuda.so.1");
	/* by its name from now on */
	ck_assert_msg(dlopen(path, RTLD_NOW) != NULL, "%s", dlerror());
}

static void setup(void)
{
	find_standin();
	dir = support_tempdir();
	orders = strdup(support_path(dir, "orders"));
	setenv("STANDIN_DEVICES", "2", 1);
	setenv("STANDIN_VRAM", "64M", 1);
	setenv("STANDIN_ORDERS", orders, 1);
	setenv("STANDIN_LEDGER", dir, 1);
	setenv("STANDIN_COPY_US", "0", 1);
}

static void teardown(void)
{
	if (is_open)
		backend_close(&be);
	is_open = false;
	free(orders);
	support_remove(dir);
	unsetenv("STANDIN_ORDERS");
	unsetenv("STANDIN_LEDGER");
}

static int try_open(const char *device)
{
	int ret = backend_open(&be, "cuda", device);

	is_open = !ret;
	far = ret ? 0 : be.dies[0].space / 2;
	return ret;
}

static void open_be(const char *device)
{
	ck_assert_msg(!try_open(device), "%s", be.why);
}

/* What the next calls give, see standin.h. */
static void order(const char *text)
{
	char *fresh = strdup(support_path(dir, "new"));
	FILE *f = fopen(fresh, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	ck_assert_int_eq(rename(fresh, orders), 0);
	free(fresh);
}

static struct backend_chunk make(unsigned int die, uint64_t len)
{
	struct backend_chunk c;

	ck_assert_int_eq(backend_chunk_make(&be, die, len, &c), 0);
	ck_assert_uint_eq(c.len, len);
	ck_assert_uint_eq(c.off, BACKEND_NOWHERE);
	return c;
}

static struct backend_chunk make_at(unsigned int die, uint64_t off, uint64_t len)
{
	struct backend_chunk c = make(die, len);

	ck_assert_int_eq(backend_chunk_map(&be, die, &c, off), 0);
	ck_assert_uint_eq(c.off, off);
	ck_assert_int_eq(backend_zero(&be, die, off, len), 0);
	return c;
}

static void end(unsigned int die, struct backend_chunk *c)
{
	ck_assert_int_eq(backend_chunk_unmap(&be, die, c), 0);
	backend_chunk_free(&be, die, c);
}

static bool is_all(const unsigned char *p, size_t len, int byte)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte)
			return false;
	return true;
}

static bool holds(unsigned int die, uint64_t off, size_t len, int byte)
{
	ck_assert_int_eq(backend_read(&be, die, off, buf, len), 0);
	return is_all(buf, len, byte);
}

static void put(unsigned int die, uint64_t off, size_t len, int byte)
{
	memset(want, byte, len);
	ck_assert_int_eq(backend_write(&be, die, off, want, len), 0);
}

static uint64_t available(unsigned int die)
{
	uint64_t left, all;

	ck_assert_int_eq(backend_free_memory(&be, die, &left, &all), 0);
	ck_assert_uint_eq(all, VRAM);
	return left;
}

static const char *why(void)
{
	static char text[128];

	backend_chunk_why(&be, 0, text, sizeof(text));
	return text;
}

static bool is_alive(void)
{
	return !backend_condition(&be, 0) && !backend_condition(&be, 1);
}

START_TEST(chunk_is_cleared_written_and_read_across_its_borders)
{
	struct backend_chunk c[3];

	open_be("cuda:mem");
	ck_assert(backend_has_chunks(&be, 0));
	ck_assert_uint_eq(backend_chunk_unit(&be, 0), UNIT);
	ck_assert_uint_eq(be.dies[0].len, 0);
	ck_assert_uint_eq(be.dies[0].space, 16 * VRAM);
	c[0] = make(0, UNIT);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c[0], far), 0);
	ck_assert(holds(0, far, 4096, OLD));
	ck_assert_int_eq(backend_zero(&be, 0, far, UNIT), 0);
	ck_assert(holds(0, far, UNIT, 0));
	c[1] = make_at(0, far + UNIT, 2 * UNIT);
	c[2] = make_at(0, far + 3 * UNIT, UNIT);
	for (size_t i = 0; i < 3 * UNIT; i++)
		want[i] = (unsigned char)(i * 7 + i / 251);
	ck_assert_int_eq(backend_write(&be, 0, far + 12345, want, 3 * UNIT), 0);
	ck_assert_int_eq(backend_read(&be, 0, far + 12345, buf, 3 * UNIT), 0);
	ck_assert(!memcmp(buf, want, 3 * UNIT));
	ck_assert(holds(0, far, 12345, 0));
	ck_assert_int_eq(backend_zero(&be, 0, far + 5, 4 * UNIT - 5), 0);
	ck_assert(holds(0, far, 4 * UNIT, 0));
	for (unsigned int i = 0; i < 3; i++)
		end(0, &c[i]);
	ck_assert(is_alive());
	ck_assert_uint_eq(available(0), VRAM);
}
END_TEST

START_TEST(hole_is_no_memory)
{
	struct backend_chunk c;

	open_be("cuda:mem");
	c = make_at(0, far, UNIT);
	ck_assert_int_eq(backend_chunk_unmap(&be, 0, &c), 0);
	/* once more does nothing */
	ck_assert_int_eq(backend_chunk_unmap(&be, 0, &c), 0);
	backend_chunk_free(&be, 0, &c);
	ck_assert_int_eq(c.fd, -1);
	ck_assert_int_ne(backend_read(&be, 0, far, buf, 1), 0);
}
END_TEST

START_TEST(chunk_has_two_places_at_a_time)
{
	struct backend_chunk a, b;

	open_be("cuda:mem");
	a = make_at(0, far, UNIT);
	put(0, far, UNIT, 1);
	/* a write is known by its place until it has arrived */
	ck_assert_int_eq(backend_sync(&be, 0), 0);
	b = a;
	ck_assert_int_eq(backend_chunk_map(&be, 0, &b, far + 8 * UNIT), 0);
	ck_assert(holds(0, far + 8 * UNIT, UNIT, 1));
	put(0, far + 8 * UNIT + 5, 1000, 2);
	ck_assert_int_eq(backend_sync(&be, 0), 0);
	ck_assert(holds(0, far + 5, 1000, 2));
	ck_assert_int_eq(backend_chunk_unmap(&be, 0, &a), 0);
	ck_assert(holds(0, far + 8 * UNIT + 5, 1000, 2));
	ck_assert(holds(0, far + 8 * UNIT + 1005, 1000, 1));
	ck_assert_uint_eq(available(0), VRAM - UNIT);
	end(0, &b);
	ck_assert_uint_eq(available(0), VRAM);
}
END_TEST

START_TEST(unmapping_waits_for_writes_on_their_way)
{
	struct backend_chunk a, other;

	setenv("STANDIN_COPY_US", COPY_US, 1);
	open_be("cuda:mem");
	a = make_at(0, far, 2 * UNIT);
	other = make_at(0, far + 2 * UNIT, UNIT);
	/* on their way, gathered, and over the border */
	put(0, far, MIB, 1);
	put(0, far + MIB, MIB, 2);
	backend_push(&be, 0);
	put(0, far + 2 * MIB, 4096, 3);
	put(0, far + 2 * UNIT - 4096, 8192, 4);
	ck_assert_int_eq(backend_chunk_unmap(&be, 0, &a), 0);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &a, far + 8 * UNIT), 0);
	ck_assert(holds(0, far + 8 * UNIT, MIB, 1));
	ck_assert(holds(0, far + 8 * UNIT + MIB, MIB, 2));
	ck_assert(holds(0, far + 8 * UNIT + 2 * MIB, 4096, 3));
	ck_assert(holds(0, far + 10 * UNIT - 4096, 4096, 4));
	ck_assert(holds(0, far + 2 * UNIT, 4096, 4));
	ck_assert(is_alive());
	ck_assert_uint_eq(backend_lost(&be, 0), 0);
	end(0, &a);
	end(0, &other);
}
END_TEST

static void read_on(void *reader, uint64_t off, size_t len)
{
	struct backend_loan loan;

	ck_assert_int_eq(backend_lend(&be, 0, reader, off, len, &loan), 0);
	backend_give_back(&be, 0, &loan);
}

/* Beyond its limit there is a hole: a copy from there would cost the die. */
START_TEST(reader_reads_ahead_inside_its_limit_alone)
{
	struct backend_chunk c;
	void *r;

	setenv("STANDIN_COPY_US", COPY_US, 1);
	open_be("cuda:mem");
	c = make_at(0, far, 2 * UNIT);
	r = backend_reader_new(&be, 0);
	/* at first nowhere, as there is no vram */
	for (uint64_t at = 0; at < 2 * UNIT; at += 512 * KIB)
		read_on(r, far + at, 512 * KIB);
	ck_assert(is_alive());
	backend_reader_limit(&be, 0, r, far, far + 2 * UNIT);
	for (uint64_t at = 0; at < 2 * UNIT; at += 512 * KIB)
		read_on(r, far + at, 512 * KIB);
	for (uint64_t at = 0; at + 192 * KIB <= 2 * UNIT; at += 192 * KIB)
		read_on(r, far + at, 192 * KIB);
	ck_assert(is_alive());
	/* as far as there is anything, and it can be taken away at once */
	for (uint64_t at = 0; at < UNIT; at += 512 * KIB)
		read_on(r, far + at, 512 * KIB);
	end(0, &c);
	ck_assert(is_alive());
	/* the limit went with the range: nothing is read ahead of a new one */
	c = make_at(0, far, UNIT);
	for (uint64_t at = 0; at < UNIT; at += 512 * KIB)
		read_on(r, far + at, 512 * KIB);
	ck_assert(is_alive());
	backend_reader_end(&be, 0, r);
	end(0, &c);
}
END_TEST

/* A thread that reads on, while its range is forgotten and given another. */
static _Atomic bool is_over;

static void *reading(void *arg)
{
	void *r = backend_reader_new(&be, 0);
	pthread_rwlock_t *lock = arg;

	for (uint64_t at = 0; !is_over; at = (at + 64 * KIB) % (2 * UNIT)) {
		struct backend_loan loan;

		pthread_rwlock_rdlock(lock);
		backend_reader_limit(&be, 0, r, far, far + 2 * UNIT);
		support_assert(
			!backend_lend(&be, 0, r, far + at, 64 * KIB, &loan));
		pthread_rwlock_unlock(lock);
		support_assert(((const unsigned char *)loan.data)[0] == 5);
		backend_give_back(&be, 0, &loan);
	}
	backend_reader_end(&be, 0, r);
	return NULL;
}

START_TEST(range_is_taken_from_readers_again_and_again)
{
	pthread_rwlockattr_t attr;
	pthread_rwlock_t lock;
	struct backend_chunk c;
	pthread_t threads[3];

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(
		&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	open_be("cuda:mem");
	c = make_at(0, far, 2 * UNIT);
	put(0, far, 2 * UNIT, 5);
	is_over = false;
	for (unsigned int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, reading, &lock);
	for (unsigned int i = 0; i < 100; i++) {
		struct backend_chunk second = c;

		pthread_rwlock_wrlock(&lock);
		support_assert(
			!backend_chunk_map(&be, 0, &second, far + 8 * UNIT));
		support_assert(!backend_chunk_unmap(&be, 0, &c));
		support_assert(!backend_chunk_map(&be, 0, &c, far));
		support_assert(!backend_chunk_unmap(&be, 0, &second));
		pthread_rwlock_unlock(&lock);
		sched_yield();
	}
	is_over = true;
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	ck_assert(is_alive());
	end(0, &c);
	pthread_rwlock_destroy(&lock);
	pthread_rwlockattr_destroy(&attr);
}
END_TEST

START_TEST(memory_runs_out_and_comes_back)
{
	struct backend_chunk c[4], more;

	open_be("cuda:mem");
	for (unsigned int i = 0; i < 4; i++)
		c[i] = make(0, 16 * MIB);
	ck_assert_int_eq(backend_chunk_make(&be, 0, UNIT, &more), -ENOSPC);
	ck_assert_str_eq(why(), "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY");
	ck_assert(is_alive());
	backend_chunk_free(&be, 0, &c[0]);
	more = make(0, UNIT);
	backend_chunk_free(&be, 0, &more);
	for (unsigned int i = 1; i < 4; i++)
		backend_chunk_free(&be, 0, &c[i]);
	ck_assert_uint_eq(available(0), VRAM);
}
END_TEST

START_TEST(descriptors_run_out)
{
	struct rlimit was, none;
	struct backend_chunk c;

	open_be("cuda:mem");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	ck_assert_int_eq(backend_chunk_make(&be, 0, UNIT, &c), -ENFILE);
	setrlimit(RLIMIT_NOFILE, &was);
	ck_assert_str_eq(why(), "Too many open files");
	ck_assert_uint_eq(available(0), VRAM);
	c = make(0, UNIT);
	setrlimit(RLIMIT_NOFILE, &none);
	ck_assert_int_eq(backend_chunk_import(&be, 0, c.fd, UNIT, &c), -ENFILE);
	setrlimit(RLIMIT_NOFILE, &was);
	ck_assert(fcntl(c.fd, F_GETFD) & FD_CLOEXEC);
	backend_chunk_free(&be, 0, &c);
}
END_TEST

/* What is under way when its context is lost never ends; nobody waits for it. */
START_TEST(dead_die_lets_go_of_its_chunks)
{
	struct backend_chunk c;
	void *r;

	setenv("STANDIN_COPY_US", COPY_US, 1);
	open_be("cuda:mem");
	c = make_at(0, far, 2 * UNIT);
	r = backend_reader_new(&be, 0);
	backend_reader_limit(&be, 0, r, far, far + 2 * UNIT);
	for (uint64_t at = 0; at < UNIT; at += 512 * KIB)
		read_on(r, far + at, 512 * KIB);
	put(0, far, MIB, 1);
	backend_push(&be, 0);
	put(0, far + UNIT, 4096, 1);
	order("cuStreamQuery:1:214:0");
	ck_assert_int_eq(backend_read(&be, 0, far, buf, 1), -EIO);
	ck_assert_int_eq(backend_condition(&be, 0), -EIO);
	backend_forget(&be, 0, far, 2 * UNIT);
	ck_assert_int_eq(backend_copy(&be, 0, far, 0, far + UNIT, MIB), -EIO);
	ck_assert_int_eq(backend_copy(&be, 1, far, 0, far + UNIT, MIB), -EIO);
	ck_assert_int_eq(backend_copy(&be, 0, far, 1, far + UNIT, MIB), -EIO);
	ck_assert_uint_eq(backend_lost(&be, 0), 2);
	order("cuInit:1:1");
	end(0, &c);
	backend_reader_end(&be, 0, r);
	ck_assert_int_eq(backend_condition(&be, 1), 0);
}
END_TEST

static const struct {
	const char *call;
	int want;
} failing[] = {
	{ "cuMemCreate:1:2", -ENOSPC },
	{ "cuMemCreate:1:999", -EIO },
	{ "cuMemExportToShareableHandle:1:801", -EIO },
	{ "cuCtxSetCurrent:1:201", -EIO },
};

START_TEST(chunk_that_cannot_be_made_leaves_nothing)
{
	struct backend_chunk c;
	const char *call = failing[_i].call;

	open_be("cuda:mem");
	order(call);
	ck_assert_int_eq(backend_chunk_make(&be, 0, UNIT, &c), failing[_i].want);
	ck_assert_msg(!strncmp(why(), call, strcspn(call, ":")), "%s", why());
	ck_assert_uint_eq(available(0), VRAM);
	c = make_at(0, far, UNIT);
	end(0, &c);
}
END_TEST

START_TEST(chunk_that_cannot_be_mapped_is_nowhere)
{
	static const char *const calls[] = { "cuMemMap:1:1",
					     "cuMemSetAccess:1:1" };
	struct backend_chunk c;

	open_be("cuda:mem");
	c = make(0, UNIT);
	order(calls[_i]);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, far), -EIO);
	ck_assert_uint_eq(c.off, BACKEND_NOWHERE);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, far), 0);
	ck_assert_int_eq(backend_zero(&be, 0, far, UNIT), 0);
	order("cuMemUnmap:1:1");
	ck_assert_int_eq(backend_chunk_unmap(&be, 0, &c), -EIO);
	ck_assert_uint_eq(c.off, far);
	end(0, &c);
}
END_TEST

START_TEST(odd_places_and_lengths_are_refused)
{
	struct backend_chunk c;

	open_be("cuda:mem,vram=3145728");
	ck_assert_int_eq(backend_chunk_make(&be, 0, 0, &c), -EINVAL);
	ck_assert_int_eq(backend_chunk_make(&be, 0, MIB, &c), -EINVAL);
	ck_assert_int_eq(backend_chunk_make(&be, 2, UNIT, &c), -EOPNOTSUPP);
	c = make(0, 2 * UNIT);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, far + MIB), -EINVAL);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, 0), -EINVAL);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, UNIT), -EINVAL);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, be.dies[0].space - UNIT),
			 -EINVAL);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, be.dies[0].space),
			 -EINVAL);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, 2 * UNIT), 0);
	end(0, &c);
	/* its end, and the end of its last page */
	ck_assert_int_eq(backend_read(&be, 0, 3 * MIB - 1, buf, 1), 0);
}
END_TEST

START_TEST(vram_is_a_piece_that_others_can_import)
{
	struct backend_chunk c;
	int fd;

	open_be("cuda:mem,vram=3145728");
	ck_assert_uint_eq(be.dies[0].len, 3 * MIB);
	ck_assert_uint_eq(available(0), VRAM - 2 * UNIT);
	fd = backend_vram_fd(&be, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	put(0, 0, 3 * MIB, 7);
	ck_assert_int_eq(backend_chunk_import(&be, 0, dup(fd), 2 * UNIT, &c), 0);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, far), 0);
	ck_assert_int_eq(backend_sync(&be, 0), 0);
	ck_assert(holds(0, far, 3 * MIB, 7));
	end(0, &c);
	ck_assert(holds(0, 0, 3 * MIB, 7));
}
END_TEST

/* What a driver, or its device, may lack. */
static const struct {
	const char *orders, *why;
} lacking[] = {
	{ "cuDeviceGetAttribute:1:1:0",
	  "cuDeviceGetAttribute: CUDA_ERROR_INVALID_VALUE" },
	{ "cuMemGetAllocationGranularity:1:801:0",
	  "cuMemGetAllocationGranularity: CUDA_ERROR_NOT_SUPPORTED" },
	{ "cuMemAddressReserve:1:2:0",
	  "cuMemAddressReserve: CUDA_ERROR_OUT_OF_MEMORY" },
};

START_TEST(without_the_calls_there_is_vram_alone)
{
	struct backend_chunk c;

	order(lacking[_i].orders);
	open_be("cuda:mem,vram=3145728");
	ck_assert(!backend_has_chunks(&be, 0));
	ck_assert_str_eq(why(), lacking[_i].why);
	ck_assert_int_eq(backend_chunk_make(&be, 0, UNIT, &c), -EOPNOTSUPP);
	ck_assert_int_eq(backend_vram_fd(&be, 0), -1);
	ck_assert_uint_eq(be.dies[0].space, 3 * MIB);
	put(0, 0, 3 * MIB, 7);
	ck_assert(holds(0, 0, 3 * MIB, 7));
	ck_assert_int_eq(backend_read(&be, 0, 3 * MIB, buf, 1), -EINVAL);
}
END_TEST

START_TEST(space_is_what_the_driver_has_left)
{
	order("cuMemAddressReserve:1:2:3");
	open_be("cuda:mem");
	ck_assert_uint_eq(be.dies[0].space, 2 * VRAM);
	ck_assert(backend_has_chunks(&be, 0));
	backend_close(&be);
	order("cuMemAddressReserve:1:2:4");
	open_be("cuda:mem");
	ck_assert(!backend_has_chunks(&be, 0));
	ck_assert_uint_eq(be.dies[0].space, 0);
	ck_assert(backend_has_chunks(&be, 1));
}
END_TEST

START_TEST(without_mem_there_are_no_chunks)
{
	open_be("cuda:vram=max");
	ck_assert(!backend_has_chunks(&be, 0));
	ck_assert_uint_eq(be.dies[0].space, be.dies[0].len);
	ck_assert_int_ge(backend_vram_fd(&be, 0), 0);
}
END_TEST

START_TEST(nothing_is_taken_unasked)
{
	ck_assert_int_eq(try_open("cuda"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(be.why, "0000:3b:00.0 has 64 of 64 MiB"));
	ck_assert_int_eq(try_open("cuda:devices=1"), -EINVAL);
	ck_assert_ptr_null(strstr(be.why, "0000:3a"));
	ck_assert_int_eq(try_open("cuda:mem,devices=2"), -ENODEV);
	ck_assert_int_eq(try_open("cuda:memory"), -EINVAL);
	open_be("cuda:mem,devices=1");
	ck_assert_uint_eq(be.n_dies, 1);
}
END_TEST

/* From die 0 to die 0 or die 1. */
START_TEST(device_copies_are_in_order_with_writes_and_reads)
{
	unsigned int to = (unsigned int)_i;
	struct backend_chunk a, b, c;
	uint64_t t;

	setenv("STANDIN_COPY_US", COPY_US, 1);
	open_be("cuda:mem");
	a = make_at(0, far, UNIT);
	b = make_at(0, far + UNIT, UNIT);
	c = make_at(to, far + 8 * UNIT, 2 * UNIT);
	t = far + 8 * UNIT;
	put(0, far, 2 * UNIT, 1);
	put(0, far + 100, 4096, 2);
	put(to, t, UNIT, 3);
	ck_assert_int_eq(backend_copy(&be, 0, far, to, t + 5, 2 * UNIT - 5), 0);
	put(0, far, UNIT, 4);
	ck_assert(holds(to, t, 5, 3));
	ck_assert(holds(to, t + 5, 100, 1));
	ck_assert(holds(to, t + 105, 4096, 2));
	ck_assert(holds(to, t + 4201, 2 * UNIT - 4201, 1));
	put(to, t + 4096, 4096, 6);
	ck_assert_int_eq(backend_copy(&be, to, t, 0, far, UNIT), 0);
	ck_assert(holds(0, far + 4096, 4096, 6));
	ck_assert_uint_eq(be.dies[0].errors, 0);
	/* not from a hole, nor past the end of the space */
	ck_assert_int_eq(backend_copy(&be, 0, be.dies[0].space - 1, to, t, 2),
			 -EINVAL);
	ck_assert_int_eq(backend_copy(&be, 0, far, to, t, BACKEND_MAX_COPY + 1),
			 -EINVAL);
	ck_assert_int_eq(backend_copy(&be, 0, far, to, t, 0), 0);
	ck_assert_int_eq(backend_copy(&be, 0, far, 0, far + UNIT - 1, UNIT),
			 -EINVAL);
	ck_assert(is_alive());
	end(0, &a);
	end(0, &b);
	end(to, &c);
}
END_TEST

struct crossing {
	unsigned int from, to;
	uint64_t off, to_off;
};

static void *copying(void *arg)
{
	const struct crossing *c = arg;

	for (unsigned int i = 0; i < 200; i++) {
		unsigned char byte = (unsigned char)i;

		support_assert(!backend_copy(&be, c->from, c->off, c->to,
					     c->to_off, MIB));
		support_assert(!backend_write(&be, c->from, c->off + i, &byte, 1));
	}
	return NULL;
}

START_TEST(copies_crosswise_end_both)
{
	unsigned int other = (unsigned int)_i;
	struct backend_chunk a, b;
	struct crossing ways[2];
	pthread_t threads[2];

	open_be("cuda:mem");
	a = make_at(0, far, UNIT);
	b = make_at(other, far + UNIT, UNIT);
	ways[0] = (struct crossing){ 0, other, far, far + UNIT };
	ways[1] = (struct crossing){ other, 0, far + UNIT, far };
	for (unsigned int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, copying, &ways[i]);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert(is_alive());
	end(0, &a);
	end(other, &b);
}
END_TEST

/* ---- other processes -------------------------------------------------------- */

static bool has_own_process(void)
{
	const char *fork_mode = getenv("CK_FORK");

	return !fork_mode || strcmp(fork_mode, "no") != 0;
}

/* A process that makes a chunk, gives it away and ends; its device's UUID. */
static int from_another(uint64_t len, uint8_t uuid[BACKEND_UUID_LEN])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io = { uuid, BACKEND_UUID_LEN };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int pair[2], status, fd;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	if (!pid) {
		struct backend_chunk c;

		if (try_open("cuda:mem,devices=1"))
			_exit(1);
		c = make_at(0, far, len);
		for (size_t i = 0; i < len; i++)
			want[i] = (unsigned char)(i * 3 + i / 253);
		if (backend_write(&be, 0, far, want, len) ||
		    backend_sync(&be, 0) || backend_uuid(&be, 0, uuid))
			_exit(2);
		control.head = (struct cmsghdr){ CMSG_LEN(sizeof(int)),
						 SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &c.fd, sizeof(int));
		_exit(sendmsg(pair[1], &msg, 0) < 0 ? 3 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(recvmsg(pair[0], &msg, MSG_CMSG_CLOEXEC),
			 BACKEND_UUID_LEN);
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(int));
	close(pair[0]);
	close(pair[1]);
	return fd;
}

/* Nothing of CUDA is left but a descriptor, in a process without libcuda. */
START_TEST(memory_lives_in_a_descriptor)
{
	uint8_t uuid[BACKEND_UUID_LEN], found[BACKEND_UUID_LEN];
	struct backend_chunk c;
	int fd;

	if (!has_own_process())
		return;
	fd = from_another(2 * UNIT, uuid);
	open_be("cuda:mem,devices=1");
	ck_assert_int_eq(backend_uuid(&be, 0, found), 0);
	ck_assert(!memcmp(uuid, found, sizeof(uuid)));
	ck_assert_uint_eq(available(0), VRAM - 2 * UNIT);
	ck_assert_int_eq(backend_chunk_import(&be, 0, fd, 2 * UNIT, &c), 0);
	ck_assert_int_eq(c.fd, fd);
	ck_assert_int_eq(backend_chunk_map(&be, 0, &c, far), 0);
	ck_assert_int_eq(backend_read(&be, 0, far, buf, 2 * UNIT), 0);
	for (size_t i = 0; i < 2 * UNIT; i++)
		support_assert(buf[i] == (unsigned char)(i * 3 + i / 253));
	end(0, &c);
	ck_assert_uint_eq(available(0), VRAM);
}
END_TEST

START_TEST(trial_reads_the_memory_in_a_program_of_its_own)
{
	uint8_t uuid[BACKEND_UUID_LEN];
	uint64_t word = 0, first;
	char text[256] = "";
	int fd, ret;

	if (!has_own_process())
		return;
	fd = from_another(UNIT, uuid);
	for (size_t i = 0; i < sizeof(first); i++)
		((unsigned char *)&first)[i] = (unsigned char)(i * 3);
	ret = owner_try_import(fd, UNIT, uuid, &word, text, sizeof(text));
	ck_assert_msg(!ret, "%s", text);
	ck_assert_uint_eq(word, first);
	ck_assert_str_eq(text, "");
	close(fd);
}
END_TEST

static const struct {
	const char *orders, *why;
} trials[] = {
	{ "cuInit:1:100", "cuInit: CUDA_ERROR_NO_DEVICE" },
	{ "cuDeviceGetCount:1:999", "cuDeviceGetCount: CUDA_ERROR_UNKNOWN" },
	{ "cuDeviceGetUuid_v2:1:801",
	  "cuDeviceGetUuid_v2: CUDA_ERROR_NOT_SUPPORTED" },
	{ "cuCtxCreate_v2:1:2", "cuCtxCreate_v2: CUDA_ERROR_OUT_OF_MEMORY" },
	{ "cuMemImportFromShareableHandle:1:1",
	  "cuMemImportFromShareableHandle: CUDA_ERROR_INVALID_VALUE" },
	{ "cuMemAddressReserve:1:2",
	  "cuMemAddressReserve: CUDA_ERROR_OUT_OF_MEMORY" },
	{ "cuMemMap:1:1", "cuMemMap: CUDA_ERROR_INVALID_VALUE" },
	{ "cuMemSetAccess:1:801", "cuMemSetAccess: CUDA_ERROR_NOT_SUPPORTED" },
	{ "cuMemcpyDtoH_v2:1:700", "cuMemcpyDtoH_v2: CUDA_ERROR_ILLEGAL_ADDRESS" },
};

START_TEST(trial_says_which_call_failed)
{
	uint8_t uuid[BACKEND_UUID_LEN];
	char text[256] = "";
	uint64_t word;
	int fd, ret;

	if (!has_own_process())
		return;
	fd = from_another(UNIT, uuid);
	order(trials[_i].orders);
	ret = owner_try_import(fd, UNIT, uuid, &word, text, sizeof(text));
	ck_assert_int_eq(ret, -EIO);
	ck_assert_msg(!strncmp(text, trials[_i].why, strlen(trials[_i].why)),
		      "%s", text);
	close(fd);
}
END_TEST

START_TEST(trial_of_another_device_or_no_memory_fails)
{
	uint8_t uuid[BACKEND_UUID_LEN];
	char text[256] = "";
	uint64_t word;
	int fd;

	if (!has_own_process())
		return;
	fd = from_another(UNIT, uuid);
	uuid[0] ^= 1;
	ck_assert_int_eq(owner_try_import(fd, UNIT, uuid, &word, text,
					  sizeof(text)),
			 -EIO);
	ck_assert_ptr_nonnull(strstr(text, "no device has the UUID"));
	uuid[0] ^= 1;
	close(fd);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(owner_try_import(fd, UNIT, uuid, &word, text,
					  sizeof(text)),
			 -EIO);
	ck_assert_ptr_nonnull(strstr(text, "cuMemImportFromShareableHandle"));
	close(fd);
}
END_TEST

/* ---- the stand-in ------------------------------------------------------------ */

/* What the library was seen to refuse on a device, or calls wrong. */
START_TEST(stand_in_refuses_what_the_library_refuses)
{
	static const struct cuda_access access = { { 1, 0 }, 3 };
	struct cuda_alloc_prop prop = { .type = 1,
					.handle_types = 1,
					.location = { 1, 0 } };
	CUmemHandle made, own, none;
	CUdeviceptr base;
	int fd, again;

	open_be("cuda:mem,devices=0");
	ck_assert_int_eq(cuda.cuMemAddressReserve(&base, 8 * UNIT, 0, 0, 0), 0);
	ck_assert_int_eq(cuda.cuMemAddressReserve(&base, MIB, 0, 0, 0), 1);
	ck_assert_int_eq(cuda.cuMemCreate(&none, MIB, &prop, 0), 1);
	ck_assert_int_eq(cuda.cuMemCreate(&none, 2 * VRAM, &prop, 0), 2);
	ck_assert_int_eq(cuda.cuMemCreate(&made, 2 * UNIT, &prop, 0), 0);
	ck_assert_int_eq(cuda.cuMemExportToShareableHandle(&fd, made, 1, 0), 0);
	prop.handle_types = 0;
	ck_assert_int_eq(cuda.cuMemCreate(&own, UNIT, &prop, 0), 0);
	ck_assert_int_eq(cuda.cuMemExportToShareableHandle(&again, own, 1, 0), 1);
	ck_assert_int_eq(cuda.cuMemRelease(own), 0);
	ck_assert_int_eq(cuda.cuMemRelease(own), 1);
	/* to map */
	ck_assert_int_eq(cuda.cuMemMap(base, UNIT, 0, made, 0), 1);
	ck_assert_int_eq(cuda.cuMemMap(base + MIB, 2 * UNIT, 0, made, 0), 1);
	ck_assert_int_eq(cuda.cuMemMap(base + 7 * UNIT, 2 * UNIT, 0, made, 0), 1);
	ck_assert_int_eq(cuda.cuMemMap(base, 2 * UNIT, 0, made, 0), 0);
	ck_assert_int_eq(cuda.cuMemMap(base + UNIT, 2 * UNIT, 0, made, 0), 1);
	/* to use: without access, from a hole, over an end */
	ck_assert_int_eq(cuda.cuMemcpyDtoH_v2(buf, base, 1), 1);
	ck_assert_int_eq(cuda.cuMemSetAccess(base, 4 * UNIT, &access, 1), 1);
	ck_assert_int_eq(cuda.cuMemSetAccess(base, 2 * UNIT, &access, 1), 0);
	ck_assert_int_eq(cuda.cuMemcpyDtoH_v2(buf, base, 2 * UNIT), 0);
	ck_assert_int_eq(cuda.cuMemcpyDtoH_v2(buf, base + 1, 2 * UNIT), 1);
	ck_assert_int_eq(cuda.cuMemcpyDtoH_v2(buf, base + 4 * UNIT, 1), 1);
	ck_assert_int_eq(cuda.cuMemsetD8_v2(base + 4 * UNIT, 0, 1), 1);
	/* to take away */
	ck_assert_int_eq(cuda.cuMemUnmap(base, UNIT), 1);
	ck_assert_int_eq(cuda.cuMemUnmap(base + UNIT, UNIT), 1);
	ck_assert_int_eq(cuda.cuMemUnmap(base, 4 * UNIT), 1);
	ck_assert_int_eq(cuda.cuMemAddressFree(base, 8 * UNIT), 1);
	/* what was imported; it stays while it is mapped */
	ck_assert_int_eq(cuda.cuMemImportFromShareableHandle(
				 &own, (void *)(intptr_t)fd, 1),
			 0);
	ck_assert_int_eq(cuda.cuMemExportToShareableHandle(&again, own, 1, 0), 1);
	ck_assert_int_eq(cuda.cuMemRelease(made), 0);
	ck_assert_int_eq(cuda.cuMemRelease(own), 0);
	close(fd);
	ck_assert_int_eq(cuda.cuMemcpyDtoH_v2(buf, base, 2 * UNIT), 0);
	ck_assert_uint_eq(available(0), VRAM - 2 * UNIT);
	ck_assert_int_eq(cuda.cuMemUnmap(base, 2 * UNIT), 0);
	ck_assert_uint_eq(available(0), VRAM);
	ck_assert_int_eq(cuda.cuMemAddressFree(base, UNIT), 1);
	ck_assert_int_eq(cuda.cuMemAddressFree(base, 8 * UNIT), 0);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(cuda.cuMemImportFromShareableHandle(
				 &own, (void *)(intptr_t)fd, 1),
			 999);
	close(fd);
}
END_TEST

START_TEST(stand_in_is_of_no_use_after_a_fork)
{
	int status;
	pid_t pid;

	open_be("cuda:mem");
	pid = fork();
	if (!pid) {
		size_t left, all;

		_exit(cuda.cuMemGetInfo_v2(&left, &all));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

Suite *chunk_suite(void)
{
	Suite *suite = suite_create("chunk");
	TCase *own = tcase_create("own");
	TCase *others = tcase_create("others");
	TCase *stand_in = tcase_create("stand-in");

	tcase_add_checked_fixture(own, setup, teardown);
	tcase_add_test(own, chunk_is_cleared_written_and_read_across_its_borders);
	tcase_add_test(own, hole_is_no_memory);
	tcase_add_test(own, chunk_has_two_places_at_a_time);
	tcase_add_test(own, unmapping_waits_for_writes_on_their_way);
	tcase_add_test(own, reader_reads_ahead_inside_its_limit_alone);
	tcase_add_test(own, range_is_taken_from_readers_again_and_again);
	tcase_add_test(own, dead_die_lets_go_of_its_chunks);
	tcase_add_test(own, memory_runs_out_and_comes_back);
	tcase_add_test(own, descriptors_run_out);
	tcase_add_loop_test(own, chunk_that_cannot_be_made_leaves_nothing, 0,
			    ARRAY_SIZE(failing));
	tcase_add_loop_test(own, chunk_that_cannot_be_mapped_is_nowhere, 0, 2);
	tcase_add_test(own, odd_places_and_lengths_are_refused);
	tcase_add_test(own, vram_is_a_piece_that_others_can_import);
	tcase_add_loop_test(own, without_the_calls_there_is_vram_alone, 0,
			    ARRAY_SIZE(lacking));
	tcase_add_test(own, space_is_what_the_driver_has_left);
	tcase_add_test(own, without_mem_there_are_no_chunks);
	tcase_add_test(own, nothing_is_taken_unasked);
	tcase_add_loop_test(
		own, device_copies_are_in_order_with_writes_and_reads, 0, 2);
	tcase_add_loop_test(own, copies_crosswise_end_both, 0, 2);
	suite_add_tcase(suite, own);

	tcase_add_checked_fixture(others, setup, teardown);
	tcase_add_test(others, memory_lives_in_a_descriptor);
	tcase_add_test(others, trial_reads_the_memory_in_a_program_of_its_own);
	tcase_add_loop_test(others, trial_says_which_call_failed, 0,
			    ARRAY_SIZE(trials));
	tcase_add_test(others, trial_of_another_device_or_no_memory_fails);
	suite_add_tcase(suite, others);

	tcase_add_checked_fixture(stand_in, setup, teardown);
	tcase_add_test(stand_in, stand_in_refuses_what_the_library_refuses);
	tcase_add_test(stand_in, stand_in_is_of_no_use_after_a_fork);
	suite_add_tcase(suite, stand_in);
	return suite;
}
