// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is gathered, on its way and read ahead, over a copy engine that works
 * when it is told to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/dma.h"
#include "base/util.h"
#include "suites.h"

#define LEN       (16 * MIB)
#define MAX_JOBS  256
#define CHUNK     ((size_t)128 << 10)
#define ECC_ERROR 214

/* A copy or fill that was given to the engine. */
struct job {
	CUstream stream;
	void *dst;
	const void *src; /* NULL: fill with zeroes */
	size_t len;
	bool was_asked;
};

static struct {
	unsigned char *mem;
	bool is_lazy; /* copies are made when somebody asks for their stream */
	CUresult copy_error; /* of the next copy, once */
	CUresult query_error; /* of the next query, once */
	bool is_slow; /* a query finds nothing done, once for each copy */
	CUresult alloc_error;
	unsigned int n_jobs;
	struct job jobs[MAX_JOBS];
	unsigned int n_in, n_out; /* copies so far, by direction */
	unsigned int n_streams;
	unsigned int n_pinned;
	void *pinned[DMA_MAX_BUFS + 1]; /* goes with the context */
} engine;

static struct dma d;
static struct cuda real; /* of other suites in this process */
static _Atomic uint64_t lost;
static unsigned char buf[2 * MIB];

static CUresult fake_set_current(CUcontext ctx)
{
	(void)ctx;
	return CUDA_SUCCESS;
}

static CUresult fake_alloc_host(void **ptr, size_t len)
{
	if (engine.alloc_error)
		return engine.alloc_error;
	ck_assert_uint_lt(engine.n_pinned, DMA_MAX_BUFS + 1);
	*ptr = malloc(len);
	engine.pinned[engine.n_pinned++] = *ptr;
	return CUDA_SUCCESS;
}

static CUresult fake_stream_create(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = (CUstream)(uintptr_t)++engine.n_streams;
	return CUDA_SUCCESS;
}

static void do_job(const struct job *j)
{
	if (j->src)
		memcpy(j->dst, j->src, j->len);
	else
		memset(j->dst, 0, j->len);
}

static CUresult give(CUstream stream, void *dst, const void *src, size_t len)
{
	struct job j = { stream, dst, src, len, false };
	CUresult err = engine.copy_error;

	engine.copy_error = CUDA_SUCCESS;
	if (err)
		return err;
	if (engine.is_lazy) {
		ck_assert_uint_lt(engine.n_jobs, MAX_JOBS);
		engine.jobs[engine.n_jobs++] = j;
	} else {
		do_job(&j);
	}
	return CUDA_SUCCESS;
}

static CUresult fake_in(CUdeviceptr dst, const void *src, size_t len,
			CUstream stream)
{
	engine.n_in++;
	return give(stream, engine.mem + dst, src, len);
}

static CUresult fake_out(void *dst, CUdeviceptr src, size_t len, CUstream stream)
{
	engine.n_out++;
	return give(stream, dst, engine.mem + src, len);
}

static CUresult fake_fill(CUdeviceptr dst, unsigned char byte, size_t len,
			  CUstream stream)
{
	ck_assert_uint_eq(byte, 0);
	return give(stream, engine.mem + dst, NULL, len);
}

static bool is_first_query(CUstream stream)
{
	bool is_first = false;

	for (unsigned int i = 0; i < engine.n_jobs; i++)
		if (engine.jobs[i].stream == stream && !engine.jobs[i].was_asked) {
			engine.jobs[i].was_asked = true;
			is_first = true;
		}
	return is_first;
}

/* The engine does the jobs of this stream now, and no others. */
static CUresult fake_query(CUstream stream)
{
	CUresult err = engine.query_error;
	unsigned int kept = 0;

	engine.query_error = CUDA_SUCCESS;
	if (err)
		return err;
	if (engine.is_slow && is_first_query(stream))
		return CUDA_ERROR_NOT_READY;
	for (unsigned int i = 0; i < engine.n_jobs; i++) {
		if (engine.jobs[i].stream == stream)
			do_job(&engine.jobs[i]);
		else
			engine.jobs[kept++] = engine.jobs[i];
	}
	engine.n_jobs = kept;
	return CUDA_SUCCESS;
}

static CUresult fake_name(CUresult err, const char **name)
{
	*name = err == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
						: "CUDA_ERROR_ECC";
	return CUDA_SUCCESS;
}

static void setup(void)
{
	memset(&engine, 0, sizeof(engine));
	engine.mem = calloc(1, LEN);
	engine.is_lazy = true;
	lost = 0;
	real = cuda;
	cuda = (struct cuda){
		.cuGetErrorName = fake_name,
		.cuCtxSetCurrent = fake_set_current,
		.cuMemAllocHost_v2 = fake_alloc_host,
		.cuStreamCreate = fake_stream_create,
		.cuStreamQuery = fake_query,
		.cuMemcpyHtoDAsync_v2 = fake_in,
		.cuMemcpyDtoHAsync_v2 = fake_out,
		.cuMemsetD8Async = fake_fill,
	};
	dma_init(&d, 0, NULL, 0, LEN, &lost);
}

static void teardown(void)
{
	dma_free(&d);
	for (unsigned int i = 0; i < engine.n_pinned; i++)
		free(engine.pinned[i]);
	free(engine.mem);
	cuda = real;
}

static int put(uint64_t off, size_t len, int byte)
{
	memset(buf, byte, len);
	return dma_write(&d, off, buf, len, NULL);
}

/* What a read gives, if all of it is one byte; else -1, or -errno. */
static int get(struct dma_reader *r, uint64_t off, size_t len)
{
	struct dma_loan loan;
	const unsigned char *p;
	int ret;

	ret = dma_lend(&d, r, off, len, &loan);
	if (ret)
		return ret;
	p = loan.data;
	ret = p[0];
	for (size_t i = 1; i < len; i++)
		if (p[i] != p[0])
			ret = -1;
	dma_return(&d, &loan);
	return ret;
}

START_TEST(small_writes_in_sequence_go_out_as_one)
{
	for (unsigned int i = 0; i < 16; i++)
		ck_assert_int_eq(put(i * 4096, 4096, 7), 0);
	dma_push(&d);
	ck_assert_uint_eq(engine.n_in, 0);
	ck_assert_int_eq(dma_sync(&d), 0);
	ck_assert_uint_eq(engine.n_in, 1);
	ck_assert_uint_eq(engine.mem[65535], 7);
	ck_assert_uint_eq(engine.mem[65536], 0);
}
END_TEST

START_TEST(full_buffer_goes_out_when_pushed)
{
	for (unsigned int i = 0; i < DMA_GATHER_LEN / 4096; i++)
		ck_assert_int_eq(put(i * 4096, 4096, 7), 0);
	ck_assert_uint_eq(engine.n_in, 0);
	dma_push(&d);
	ck_assert_uint_eq(engine.n_in, 1);
	ck_assert_int_eq(put(MIB, MIB, 8), 0);
	dma_push(&d);
	ck_assert_uint_eq(engine.n_in, 2);
}
END_TEST

START_TEST(read_sees_what_is_gathered_and_on_its_way)
{
	put(0, 4096, 1);
	put(MIB, MIB, 2);
	dma_push(&d);
	ck_assert_int_eq(get(NULL, 0, 4096), 1);
	ck_assert_int_eq(get(NULL, MIB, MIB), 2);
	ck_assert_int_eq(get(NULL, 3 * MIB, MIB), 0);
}
END_TEST

START_TEST(write_over_another_one_comes_after_it)
{
	engine.is_slow = _i;
	put(0, MIB, 1);
	dma_push(&d);
	put(4096, 4096, 2);
	put(6144, 100, 3);
	put(0, 5000, 4);
	put(512 * KIB, MIB, 5);
	dma_push(&d);
	ck_assert_int_eq(dma_sync(&d), 0);
	ck_assert_uint_eq(engine.mem[0], 4);
	ck_assert_uint_eq(engine.mem[4999], 4);
	ck_assert_uint_eq(engine.mem[5000], 2);
	ck_assert_uint_eq(engine.mem[6144], 3);
	ck_assert_uint_eq(engine.mem[6244], 2);
	ck_assert_uint_eq(engine.mem[8192], 1);
	ck_assert_uint_eq(engine.mem[512 * KIB], 5);
	ck_assert_uint_eq(engine.mem[LEN / 16 + 512 * KIB - 1], 5);
}
END_TEST

START_TEST(clearing_comes_after_the_writes_before_it)
{
	put(0, 64 * KIB, 1);
	put(MIB, MIB, 1);
	ck_assert_int_eq(dma_zero(&d, 4096, 2 * MIB - 8192), 0);
	ck_assert_int_eq(get(NULL, 0, 4096), 1);
	ck_assert_int_eq(get(NULL, 4096, MIB), 0);
	ck_assert_int_eq(get(NULL, 2 * MIB - 4096, 4096), 1);
}
END_TEST

START_TEST(write_from_pinned_memory_exchanges_it)
{
	char *mem = dma_alloc(&d), *was = mem;

	memset(mem, 9, DMA_BUF_LEN);
	ck_assert_int_eq(dma_write(&d, 0, mem + 80, MIB, &mem), 0);
	ck_assert_ptr_ne(mem, was);
	memset(mem, 1, DMA_BUF_LEN);
	ck_assert_int_eq(dma_sync(&d), 0);
	ck_assert_uint_eq(engine.mem[0], 9);
	ck_assert_uint_eq(engine.mem[MIB - 1], 9);
	ck_assert_uint_eq(engine.mem[MIB], 0);
}
END_TEST

START_TEST(sequence_is_read_ahead_once)
{
	struct dma_reader *r = dma_reader_new(&d);
	unsigned int before;

	put(0, MIB, 1);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_int_eq(get(r, i * CHUNK, CHUNK), 1);
	before = engine.n_out;
	for (unsigned int i = 4; i < 8; i++)
		ck_assert_int_eq(get(r, i * CHUNK, CHUNK), 1);
	/* answered from a window; no more than the next ones were begun */
	ck_assert_uint_le(engine.n_out, before + DMA_WINDOWS);
	dma_reader_end(&d, r);
	ck_assert_uint_eq(d.n_windows, 0);
}
END_TEST

START_TEST(random_reads_are_not_read_ahead)
{
	struct dma_reader *r = dma_reader_new(&d);

	for (unsigned int i = 0; i < 10; i++)
		get(r, (i * 7 % 10) * CHUNK, CHUNK);
	ck_assert_uint_eq(engine.n_out, 10);
	ck_assert_uint_eq(d.n_windows, 0);
	dma_reader_end(&d, r);
}
END_TEST

/* every way to change memory, against what was read ahead of it */
static void change(int how, uint64_t off)
{
	if (how == 0)
		put(off, 4096, 9);
	else if (how == 1)
		put(off, CHUNK, 9);
	else
		dma_zero(&d, off, 4096);
}

START_TEST(change_drops_what_was_read_ahead)
{
	struct dma_reader *r = dma_reader_new(&d);
	int want = _i == 2 ? 0 : 9;

	for (unsigned int i = 0; i < 16; i++)
		put(i * MIB, MIB, 1);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_int_eq(get(r, i * CHUNK, CHUNK), 1);
	ck_assert_uint_gt(d.n_windows, 0);
	change(_i, 5 * CHUNK);
	ck_assert_int_eq(get(r, 5 * CHUNK, 4096), want);
	for (unsigned int i = 6; i < 20; i++) {
		change(_i, i * CHUNK);
		ck_assert_int_eq(get(r, i * CHUNK, 4096), want);
		ck_assert_int_eq(get(r, i * CHUNK + 4096, 4096), _i == 1 ? 9 : 1);
		get(r, i * CHUNK + 8192, CHUNK - 8192);
	}
	dma_reader_end(&d, r);
}
END_TEST

START_TEST(nothing_is_read_ahead_of_a_write_on_its_way)
{
	struct dma_reader *r = dma_reader_new(&d);

	put(0, 3 * CHUNK, 1);
	dma_sync(&d);
	put(3 * CHUNK, CHUNK, 2);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_int_eq(get(r, i * CHUNK, CHUNK), 1);
	ck_assert_int_eq(get(r, 3 * CHUNK, CHUNK), 2);
	dma_reader_end(&d, r);
}
END_TEST

START_TEST(failed_send_counts_as_lost_and_fails_the_sync_once)
{
	put(0, 4096, 1);
	engine.copy_error = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_int_eq(dma_sync(&d), -EIO);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(dma_sync(&d), 0);
	ck_assert(!d.is_dead);
	put(0, 4096, 2);
	ck_assert_int_eq(get(NULL, 0, 4096), 2);
}
END_TEST

START_TEST(lost_context_fails_all_that_follows)
{
	char text[256];

	ck_assert_int_eq(get(NULL, 0, 4096), 0);
	dma_error(&d, text, sizeof(text));
	ck_assert_str_eq(text, "");
	put(0, MIB, 1);
	dma_push(&d);
	engine.query_error = ECC_ERROR;
	ck_assert_int_eq(get(NULL, 4096, 4096), -EIO);
	ck_assert_uint_eq(lost, 1);
	ck_assert(d.is_dead);
	ck_assert_int_eq(put(0, 1, 1), -EIO);
	ck_assert_int_eq(dma_zero(&d, 0, 1), -EIO);
	ck_assert_int_eq(get(NULL, 8 * MIB, 1), -EIO);
	ck_assert_int_eq(dma_sync(&d), -EIO);
	dma_error(&d, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "die 0: a write that was answered: "
					   "CUDA_ERROR_ECC"));
}
END_TEST

START_TEST(failed_read_is_its_own_error)
{
	engine.copy_error = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_int_eq(get(NULL, 0, 4096), -ENOMEM);
	ck_assert_int_eq(get(NULL, 0, 4096), 0);
	engine.query_error = ECC_ERROR;
	ck_assert_int_eq(get(NULL, 0, 4096), -EIO);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(no_memory_for_a_buffer_is_enomem)
{
	engine.alloc_error = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_int_eq(put(0, 4096, 1), -ENOMEM);
	ck_assert_int_eq(get(NULL, 0, 4096), -ENOMEM);
	ck_assert_int_eq(dma_zero(&d, 0, 4096), -ENOMEM);
	ck_assert_ptr_null(dma_alloc(&d));
	engine.alloc_error = CUDA_SUCCESS;
	ck_assert_int_eq(put(0, 4096, 1), 0);
	ck_assert_int_eq(get(NULL, 0, 4096), 1);
}
END_TEST

START_TEST(buffers_do_not_grow_with_what_is_written)
{
	for (unsigned int i = 0; i < 64; i++) {
		ck_assert_int_eq(put(i % 16 * MIB, MIB, (int)i), 0);
		ck_assert_int_eq(put((i * 5 % 16) * MIB + 4096, 4096, 1), 0);
	}
	ck_assert_uint_le(d.n_bufs, DMA_MAX_WRITES + 1);
	ck_assert_uint_le(d.n_writes, DMA_MAX_WRITES);
}
END_TEST

START_TEST(write_that_is_done_gives_its_buffer_to_the_next)
{
	char *mem = dma_alloc(&d), *first = mem, *second;

	ck_assert_int_eq(dma_write(&d, 0, mem, MIB, &mem), 0);
	dma_push(&d);
	second = mem;
	for (unsigned int i = 1; i < 16; i++) {
		ck_assert_int_eq(dma_write(&d, i % 8 * MIB, mem, MIB, &mem), 0);
		dma_push(&d);
		ck_assert_ptr_eq(mem, i % 2 ? first : second);
	}
}
END_TEST

START_TEST(write_on_its_way_is_not_waited_for)
{
	engine.is_slow = true;
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(put(i * MIB, MIB, 1), 0);
		dma_push(&d);
	}
	ck_assert_uint_eq(d.n_writes, 2);
	ck_assert_uint_eq(engine.n_jobs, 2);
	ck_assert_int_eq(put(2 * MIB, MIB, 1), 0);
	ck_assert_uint_eq(d.n_writes, 2);
	ck_assert_int_eq(dma_sync(&d), 0);
}
END_TEST

START_TEST(failure_that_the_next_write_finds_counts_as_lost)
{
	put(0, MIB, 1);
	dma_push(&d);
	engine.query_error = CUDA_ERROR_OUT_OF_MEMORY;
	ck_assert_int_eq(put(MIB, MIB, 1), 0);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(dma_sync(&d), 0);
}
END_TEST

Suite *dma_suite(void)
{
	Suite *s = suite_create("dma");
	TCase *writes = tcase_create("writes");
	TCase *reads = tcase_create("reads");
	TCase *errors = tcase_create("errors");

	tcase_add_checked_fixture(writes, setup, teardown);
	tcase_add_test(writes, small_writes_in_sequence_go_out_as_one);
	tcase_add_test(writes, full_buffer_goes_out_when_pushed);
	tcase_add_test(writes, read_sees_what_is_gathered_and_on_its_way);
	tcase_add_loop_test(writes, write_over_another_one_comes_after_it, 0, 2);
	tcase_add_test(writes, clearing_comes_after_the_writes_before_it);
	tcase_add_test(writes, write_from_pinned_memory_exchanges_it);
	tcase_add_test(writes, buffers_do_not_grow_with_what_is_written);
	tcase_add_test(writes, write_that_is_done_gives_its_buffer_to_the_next);
	tcase_add_test(writes, write_on_its_way_is_not_waited_for);
	suite_add_tcase(s, writes);

	tcase_add_checked_fixture(reads, setup, teardown);
	tcase_add_test(reads, sequence_is_read_ahead_once);
	tcase_add_test(reads, random_reads_are_not_read_ahead);
	tcase_add_loop_test(reads, change_drops_what_was_read_ahead, 0, 3);
	tcase_add_test(reads, nothing_is_read_ahead_of_a_write_on_its_way);
	suite_add_tcase(s, reads);

	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_test(errors,
		       failed_send_counts_as_lost_and_fails_the_sync_once);
	tcase_add_test(errors, failure_that_the_next_write_finds_counts_as_lost);
	tcase_add_test(errors, lost_context_fails_all_that_follows);
	tcase_add_test(errors, failed_read_is_its_own_error);
	tcase_add_test(errors, no_memory_for_a_buffer_is_enomem);
	suite_add_tcase(s, errors);
	return s;
}
