// SPDX-License-Identifier: GPL-2.0-or-later
/* What is read ahead, for whom, and until when. */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "engine/readahead.h"
#include "mock_clock.h"
#include "suites.h"
#include "support.h"

#define DIE   3
#define LIMIT (64 * MIB)
#define BLOCK (1 * MIB)

static struct readahead_pool pool;
static struct readahead ra;
static char out[BLOCK];

/* the "die": byte N of it is a function of N */
static struct {
	unsigned int n_calls;
	unsigned int fail_at; /* call that fails, 0: none */
	uint64_t end; /* highest byte asked for */
	unsigned int touch_at; /* call during which the die is written to */
	unsigned int ms_a_call;
} source;

static char byte_at(uint64_t off)
{
	return (char)(off * 31 + (off >> 12) * 7 + (off >> 20));
}

static int read_source(void *arg, uint64_t off, void *buf, size_t len)
{
	char *p = buf;

	ck_assert_ptr_eq(arg, &source);
	source.n_calls++;
	mock_clock_advance(source.ms_a_call * NSEC_PER_MSEC);
	if (source.n_calls == source.touch_at)
		readahead_touch(&pool, DIE);
	if (source.n_calls == source.fail_at)
		return -EIO;
	if (off + len > source.end)
		source.end = off + len;
	for (size_t i = 0; i < len; i += 512)
		p[i] = byte_at(off + i);
	return 0;
}

static void setup(void)
{
	mock_clock_start(NSEC_PER_SEC);
	memset(&pool, 0, sizeof(pool));
	memset(&source, 0, sizeof(source));
	readahead_init(&ra);
}

static void teardown(void)
{
	readahead_free(&ra, &pool);
	ck_assert_uint_eq(pool.in_use, 0);
	mock_clock_stop();
}

static void fill(uint64_t off)
{
	readahead_fill(&ra, &pool, DIE, off, LIMIT, read_source, &source);
}

static bool get(uint64_t off, size_t len)
{
	const void *got = readahead_get(&ra, &pool, DIE, off, len, now_ns());

	memset(out, 0x5a, sizeof(out));
	if (!got)
		return false;
	memcpy(out, got, len);
	readahead_put(&ra);
	return true;
}

/* Is what get() gave what the die has there? */
static bool is_right(uint64_t off, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!((off + i) % 512) && out[i] != byte_at(off + i))
			return false;
	return true;
}

/* A read of BLOCK bytes that had to run on the die. */
static bool note(uint64_t off, bool was_parked)
{
	return readahead_note(&ra, off, BLOCK, was_parked);
}

START_TEST(two_sequential_reads_that_waited_are_worth_reading_ahead)
{
	bool worth;

	/* the place it starts at says nothing yet */
	ck_assert(!note(5 * BLOCK, true));
	worth = note(6 * BLOCK, true);
	ck_assert(note(7 * BLOCK, true) || worth);
	ck_assert(note(8 * BLOCK, true));
}
END_TEST

START_TEST(one_read_that_waited_is_not)
{
	ck_assert(!note(0, true));
	for (uint64_t i = 1; i < 20; i++)
		ck_assert(!note(i * BLOCK, false));
}
END_TEST

/* A read(2) of 8 MiB, or of 1 MiB to a place that is not aligned. */
START_TEST(requests_that_follow_without_a_wait_do_not_end_the_row)
{
	uint64_t off = 0;

	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(note(off, true), i >= 1);
		off += BLOCK;
		for (int more = 0; more < _i; more++, off += BLOCK)
			ck_assert(!note(off, false));
	}
}
END_TEST

/* It has a slice to itself now and then: it would not swap less often. */
START_TEST(reads_of_more_than_is_read_ahead_end_the_row)
{
	uint64_t off = 0;

	for (int i = 0; i < 10; i++) {
		ck_assert(!note(off, true));
		off += BLOCK;
		for (int more = 0; more < 17; more++, off += BLOCK)
			ck_assert(!note(off, false));
	}
}
END_TEST

START_TEST(reads_that_did_not_wait_never_are)
{
	for (uint64_t i = 0; i < 20; i++)
		ck_assert(!note(i * BLOCK, false));
}
END_TEST

START_TEST(reads_here_and_there_never_are)
{
	for (uint64_t i = 0; i < 20; i++)
		ck_assert(!note((i * 7 % 20) * 2 * BLOCK, true));
}
END_TEST

START_TEST(jump_starts_the_count_again)
{
	note(0, true);
	note(BLOCK, true);
	ck_assert(note(2 * BLOCK, true));
	ck_assert(!note(30 * BLOCK, true));
	ck_assert(!note(31 * BLOCK, false));
}
END_TEST

START_TEST(reader_that_used_up_what_was_read_ahead_is_still_sequential)
{
	note(0, true);
	note(BLOCK, true);
	note(2 * BLOCK, true);
	fill(3 * BLOCK);
	for (uint64_t off = 3 * BLOCK; off < 3 * BLOCK + READAHEAD_LEN;
	     off += BLOCK)
		ck_assert(get(off, BLOCK));
	ck_assert(!get(3 * BLOCK + READAHEAD_LEN, BLOCK));
	ck_assert(note(3 * BLOCK + READAHEAD_LEN, true));
}
END_TEST

START_TEST(get_gives_what_was_read_ahead)
{
	static const struct {
		uint64_t off;
		size_t len;
	} parts[] = {
		{ BLOCK, BLOCK },
		{ BLOCK, 1 },
		{ BLOCK + READAHEAD_LEN - 1, 1 },
		{ 2 * BLOCK + 123, 4567 },
		{ READAHEAD_LEN, BLOCK },
	};

	fill(BLOCK);
	ck_assert_uint_eq(source.end, BLOCK + READAHEAD_LEN);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ck_assert(get(parts[i].off, parts[i].len));
		ck_assert(is_right(parts[i].off, parts[i].len));
	}
}
END_TEST

START_TEST(get_outside_of_it_gives_nothing_and_writes_nothing)
{
	static const struct {
		uint64_t off;
		size_t len;
	} parts[] = {
		{ 0, 1 },
		{ BLOCK - 1, 1 },
		{ BLOCK - 1, 2 },
		{ BLOCK + READAHEAD_LEN, 1 },
		{ BLOCK + READAHEAD_LEN - 1, 2 },
		{ UINT64_MAX, 1 },
		{ UINT64_MAX - 1, 2 },
	};

	fill(BLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ck_assert(!get(parts[i].off, parts[i].len));
		ck_assert_int_eq(out[0], 0x5a);
	}
	/* and what is inside is still there */
	ck_assert(get(BLOCK, BLOCK));
}
END_TEST

START_TEST(get_before_any_fill_gives_nothing)
{
	ck_assert(!get(0, 1));
}
END_TEST

START_TEST(fill_ends_at_the_end_of_the_file)
{
	readahead_fill(&ra, &pool, DIE, LIMIT - 100, LIMIT, read_source, &source);
	ck_assert_uint_eq(source.end, LIMIT);
	ck_assert(get(LIMIT - 100, 100));
	ck_assert(!get(LIMIT - 100, 101));
}
END_TEST

START_TEST(fill_at_the_end_of_the_file_reads_nothing)
{
	readahead_fill(&ra, &pool, DIE, LIMIT, LIMIT, read_source, &source);
	ck_assert_uint_eq(source.n_calls, 0);
	ck_assert(!get(LIMIT, 1));
}
END_TEST

START_TEST(fill_that_fails_leaves_nothing)
{
	source.fail_at = (unsigned int)_i;
	fill(0);
	ck_assert(!get(0, 1));
	ck_assert_uint_eq(pool.in_use, 0);
	/* also when something was there before */
	source.n_calls = 0;
	source.fail_at = 0;
	fill(0);
	ck_assert(get(0, 1));
	source.n_calls = 0;
	source.fail_at = (unsigned int)_i;
	fill(READAHEAD_LEN);
	ck_assert(!get(0, 1));
	ck_assert(!get(READAHEAD_LEN, 1));
}
END_TEST

START_TEST(second_fill_replaces_the_first)
{
	fill(0);
	fill(BLOCK + READAHEAD_LEN);
	ck_assert(!get(0, 1));
	ck_assert(get(BLOCK + READAHEAD_LEN, BLOCK));
	ck_assert(is_right(BLOCK + READAHEAD_LEN, BLOCK));
	ck_assert_uint_eq(pool.in_use, 1);
}
END_TEST

START_TEST(contents_are_used_for_a_short_time)
{
	fill(0);
	mock_clock_advance(50 * NSEC_PER_MSEC);
	ck_assert(get(0, 1));
	mock_clock_advance(1);
	ck_assert(!get(0, 1));
}
END_TEST

static struct readahead others;

static void fill_another(unsigned int die)
{
	readahead_fill(&others, &pool, die, 0, LIMIT, read_source, &source);
}

/* The client waited for another die meanwhile, and then comes back. */
START_TEST(contents_outlast_a_fill_of_another_die_for_a_short_time)
{
	readahead_init(&others);
	fill(0);
	mock_clock_advance(100 * NSEC_PER_MSEC);
	fill_another(DIE + 1);
	mock_clock_advance(50 * NSEC_PER_MSEC);
	ck_assert(get(0, 1));
	mock_clock_advance(1);
	ck_assert(!get(0, 1));
	readahead_free(&others, &pool);
}
END_TEST

START_TEST(contents_do_not_outlast_a_fill_of_the_same_die)
{
	readahead_init(&others);
	fill(0);
	mock_clock_advance(50 * NSEC_PER_MSEC);
	fill_another(DIE);
	mock_clock_advance(1);
	ck_assert(!get(0, 1));
	readahead_free(&others, &pool);
}
END_TEST

/* Their age counts from when the first of them was read. */
START_TEST(contents_are_never_used_after_a_quarter_of_a_second)
{
	readahead_init(&others);
	source.ms_a_call = 1;
	fill(0);
	source.ms_a_call = 0;
	for (int i = 0; i < 9; i++) {
		mock_clock_advance(26 * NSEC_PER_MSEC);
		ck_assert(get(0, 1));
		fill_another(DIE - 1);
	}
	ck_assert(get(0, 1));
	mock_clock_advance(NSEC_PER_MSEC);
	ck_assert(!get(0, 1));
	readahead_free(&others, &pool);
}
END_TEST

START_TEST(change_of_the_die_ends_it_and_of_another_does_not)
{
	fill(0);
	readahead_touch(&pool, DIE + 1);
	ck_assert(get(0, 1));
	readahead_touch(&pool, DIE);
	ck_assert(!get(0, 1));
	/* for good */
	ck_assert(!get(0, 1));
}
END_TEST

START_TEST(change_during_the_fill_ends_it)
{
	source.touch_at = (unsigned int)_i;
	fill(0);
	ck_assert(!get(0, 1));
}
END_TEST

static _Atomic bool is_freed;

static void *free_it(void *arg)
{
	(void)arg;
	readahead_free(&ra, &pool);
	is_freed = true;
	return NULL;
}

START_TEST(lent_bytes_stay_until_they_are_given_back)
{
	const char *lent;
	pthread_t closer;

	fill(0);
	lent = readahead_get(&ra, &pool, DIE, 512, 1024, now_ns());
	ck_assert_ptr_nonnull(lent);
	/* too old by now, which a second reader finds out; and a new fill */
	readahead_touch(&pool, DIE);
	ck_assert(!get(0, 1));
	fill(16 * MIB);
	ck_assert_int_eq(lent[0], byte_at(512));
	ck_assert_int_eq(pthread_create(&closer, NULL, free_it, NULL), 0);
	support_nap();
	ck_assert(!is_freed);
	ck_assert_int_eq(lent[512], byte_at(1024));
	readahead_put(&ra);
	pthread_join(closer, NULL);
	ck_assert_uint_eq(pool.in_use, 0);
	readahead_init(&ra);
}
END_TEST

START_TEST(memory_for_all_files_is_limited)
{
	struct readahead many[READAHEAD_MAX + 2];
	unsigned int n_filled = 0;

	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		readahead_init(&many[i]);
		readahead_fill(&many[i], &pool, DIE, 0, LIMIT, read_source,
			       &source);
		if (!readahead_get(&many[i], &pool, DIE, 0, 1, now_ns()))
			continue;
		n_filled++;
		readahead_put(&many[i]);
	}
	ck_assert_uint_eq(n_filled, READAHEAD_MAX);
	ck_assert_uint_eq(pool.in_use, READAHEAD_MAX);
	readahead_free(&many[0], &pool);
	/* who got none before gets it now */
	readahead_fill(&many[READAHEAD_MAX], &pool, DIE, 0, LIMIT, read_source,
		       &source);
	ck_assert(readahead_get(&many[READAHEAD_MAX], &pool, DIE, 0, 1, now_ns()));
	readahead_put(&many[READAHEAD_MAX]);
	for (size_t i = 1; i < ARRAY_SIZE(many); i++)
		readahead_free(&many[i], &pool);
}
END_TEST

static int read_and_ask_for_more(void *arg, uint64_t off, void *buf, size_t len)
{
	/* another request of the same file, meanwhile, on another thread */
	ck_assert(!get(off, 1));
	ck_assert(!note(off, true));
	return read_source(arg, off, buf, len);
}

/* Nobody waits for a fill: the die is in, so they read that. */
START_TEST(requests_during_a_fill_do_not_wait_for_it)
{
	readahead_fill(&ra, &pool, DIE, 0, LIMIT, read_and_ask_for_more, &source);
	ck_assert(get(0, BLOCK));
}
END_TEST

Suite *readahead_suite(void)
{
	Suite *suite = suite_create("readahead");
	TCase *note_case = tcase_create("note");
	TCase *get_case = tcase_create("get");
	TCase *end = tcase_create("end");

	tcase_add_checked_fixture(note_case, setup, teardown);
	tcase_add_test(note_case,
		       two_sequential_reads_that_waited_are_worth_reading_ahead);
	tcase_add_test(note_case, one_read_that_waited_is_not);
	tcase_add_loop_test(
		note_case,
		requests_that_follow_without_a_wait_do_not_end_the_row, 1, 9);
	tcase_add_test(note_case, reads_of_more_than_is_read_ahead_end_the_row);
	tcase_add_test(note_case, reads_that_did_not_wait_never_are);
	tcase_add_test(note_case, reads_here_and_there_never_are);
	tcase_add_test(note_case, jump_starts_the_count_again);
	tcase_add_test(
		note_case,
		reader_that_used_up_what_was_read_ahead_is_still_sequential);
	suite_add_tcase(suite, note_case);

	tcase_add_checked_fixture(get_case, setup, teardown);
	tcase_add_test(get_case, get_gives_what_was_read_ahead);
	tcase_add_test(get_case,
		       get_outside_of_it_gives_nothing_and_writes_nothing);
	tcase_add_test(get_case, get_before_any_fill_gives_nothing);
	tcase_add_test(get_case, fill_ends_at_the_end_of_the_file);
	tcase_add_test(get_case, fill_at_the_end_of_the_file_reads_nothing);
	tcase_add_test(get_case, second_fill_replaces_the_first);
	tcase_add_test(get_case, requests_during_a_fill_do_not_wait_for_it);
	suite_add_tcase(suite, get_case);

	tcase_add_checked_fixture(end, setup, teardown);
	tcase_add_loop_test(end, fill_that_fails_leaves_nothing, 1, 4);
	tcase_add_test(end, contents_are_used_for_a_short_time);
	tcase_add_test(end,
		       contents_outlast_a_fill_of_another_die_for_a_short_time);
	tcase_add_test(end, contents_do_not_outlast_a_fill_of_the_same_die);
	tcase_add_test(end, contents_are_never_used_after_a_quarter_of_a_second);
	tcase_add_test(end, change_of_the_die_ends_it_and_of_another_does_not);
	tcase_add_loop_test(end, change_during_the_fill_ends_it, 1, 4);
	tcase_add_test(end, memory_for_all_files_is_limited);
	tcase_add_test(end, lent_bytes_stay_until_they_are_given_back);
	suite_add_tcase(suite, end);
	return suite;
}
