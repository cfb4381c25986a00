// SPDX-License-Identifier: GPL-2.0-or-later
/* New images in the engine: every byte, in whatever order requests come. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "io_fixture.h"
#include "suites.h"

#define SPAN (1 * MIB) /* what the tests use of die 0 */

static struct io_file *f; /* on die 0 */
static unsigned char *model; /* what a reader must see */
static unsigned char buf[SPAN];
static unsigned int seed;

static unsigned int pick(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

static void setup(void)
{
	io_fixture_setup();
	f = &fixture_files[0];
	model = malloc(SPAN);
	memset(model, 'o', SPAN);
	memset(fake_mem(0), 'o', SPAN);
}

static void teardown(void)
{
	image_stop(&fixture_eng.images, &f->image);
	free(model);
	io_fixture_teardown();
}

static void start(struct io_file *file)
{
	image_start(&fixture_eng.images, &file->image, file->die, file->base);
}

static void read_back(struct io_file *file)
{
	ck_assert_int_eq(read_at(file, 0, SPAN, buf), SPAN);
	ck_assert_mem_eq(buf, model, SPAN);
}

static ssize_t clear(struct io_file *file)
{
	return call_run(call_new(IO_CLEAR, file, 0, 0));
}

START_TEST(holes_are_zeros_before_and_after_they_are_cleared)
{
	start(f);
	ck_assert(!image_has_holes(&fixture_eng.images, &f->image));
	memset(buf, 'd', 100);
	ck_assert_int_eq(write_at(f, 5000, 100, buf), 100);
	memset(model, 0, 5000);
	memcpy(model + 5000, fake_mem(0) + 5000, 100);
	read_back(f);
	ck_assert_int_eq(fake_mem(0)[0], 'o');
	ck_assert(image_has_holes(&fixture_eng.images, &f->image));
	ck_assert_int_eq(clear(f), 0);
	ck_assert(!image_has_holes(&fixture_eng.images, &f->image));
	ck_assert_mem_eq(fake_mem(0), model, SPAN);
	read_back(f);
}
END_TEST

START_TEST(write_that_failed_leaves_a_hole)
{
	start(f);
	ck_assert_int_eq(write_at(f, 2000, 1, "x"), 1);
	fake_fail(FAKE_WRITE, 0, -EIO, 1);
	ck_assert_int_eq(write_at(f, 1000, 1, "y"), -EIO);
	ck_assert_int_eq(clear(f), 0);
	ck_assert_int_eq(fake_mem(0)[1000], 0);
	ck_assert_int_eq(fake_mem(0)[2000], 'x');
	ck_assert_int_eq(fake_mem(0)[2001], 'o');
}
END_TEST

START_TEST(clear_that_failed_is_still_to_be_made)
{
	start(f);
	ck_assert_int_eq(write_at(f, 2000, 1, "x"), 1);
	fake_fail(FAKE_ZERO, 0, -EIO, 1);
	ck_assert_int_eq(clear(f), -EIO);
	ck_assert(image_has_holes(&fixture_eng.images, &f->image));
	ck_assert_int_eq(clear(f), 0);
	ck_assert_int_eq(fake_mem(0)[0], 0);
}
END_TEST

static void *write_one(void *arg)
{
	ck_assert_int_eq(write_at(f, 100, 1, arg), 1);
	return NULL;
}

START_TEST(write_during_a_clear_of_its_bytes_comes_after_it)
{
	struct call *c = call_new(IO_CLEAR, f, 0, 0);
	char byte = 'w';
	pthread_t writer;

	start(f);
	ck_assert_int_eq(write_at(f, 2000, 1, "x"), 1);
	fake_hold(FAKE_ZERO);
	/* it holds its caller up neither way */
	if (_i)
		ck_assert_int_eq(call_slot(SCHED_RELEASE, 0), 0);
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_ZERO) == 1);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_one, &byte), 0);
	support_nap();
	ck_assert_int_eq(fake_mem(0)[100], 'o');
	fake_let_go(FAKE_ZERO);
	ck_assert_int_eq(call_wait(c), 0);
	pthread_join(writer, NULL);
	ck_assert_int_eq(fake_mem(0)[100], 'w');
	ck_assert_int_eq(fake_mem(0)[99], 0);
}
END_TEST

START_TEST(bytes_that_are_being_written_are_not_cleared)
{
	struct call *c = call_new(IO_WRITE, f, 100, 1);

	start(f);
	ck_assert_int_eq(write_at(f, 2000, 1, "x"), 1);
	ck_assert_int_eq(call_slot(SCHED_RELEASE, 0), 0);
	fake_hold(FAKE_WRITE);
	c->io.data = "w";
	io_submit(&c->io);
	support_wait_until(fake_n_held(FAKE_WRITE) == 1);
	ck_assert_int_eq(clear(f), 0);
	ck_assert_int_eq(fake_mem(0)[100], 'o');
	ck_assert_int_eq(fake_mem(0)[99], 0);
	ck_assert_int_eq(fake_mem(0)[101], 0);
	fake_let_go(FAKE_WRITE);
	ck_assert_int_eq(call_wait(c), 1);
	ck_assert(!image_has_holes(&fixture_eng.images, &f->image));
	ck_assert_int_eq(fake_mem(0)[100], 'w');
}
END_TEST

START_TEST(reset_takes_the_image_with_it)
{
	start(f);
	ck_assert_int_eq(write_at(f, 2000, 1, "x"), 1);
	ck_assert_int_eq(call_slot(SCHED_RESET, 0), 0);
	ck_assert(!image_has_holes(&fixture_eng.images, &f->image));
	f->generation = fixture_eng.be->dies[0].generation;
	ck_assert_int_eq(read_at(f, 0, 1, buf), 1);
	ck_assert_int_eq(buf[0], FAKE_SCRAP);
}
END_TEST

START_TEST(number_of_ranges_is_bounded)
{
	start(f);
	for (unsigned int i = 0; i < 3 * IMAGE_RANGES; i++) {
		ck_assert_int_eq(write_at(f, i * 64 + 9, 1, "n"), 1);
		ck_assert_uint_le(f->image.written.n, IMAGE_RANGES + 1);
		calls_forget();
	}
	ck_assert_int_eq(clear(f), 0);
	for (unsigned int i = 0; i < 3 * IMAGE_RANGES * 64 - 54; i++)
		ck_assert_int_eq(fake_mem(0)[i], i % 64 == 9 ? 'n' : 0);
	ck_assert_int_eq(fake_mem(0)[3 * IMAGE_RANGES * 64 - 54], 'o');
}
END_TEST

/* What a file system would do, byte by byte: two files of one die, the first
 * of which is truncated again and again. */
static struct {
	uint64_t end;
	bool is_live;
	bool is_written[SPAN];
} state;

static void model_write(uint64_t off, uint64_t len, const unsigned char *data,
			bool is_own)
{
	if (data)
		memcpy(model + off, data, len);
	else
		memset(model + off, 0, len);
	memset(state.is_written + off, true, len);
	if (!state.is_live || !is_own || off + len <= state.end)
		return;
	for (uint64_t at = state.end; at < off; at++)
		if (!state.is_written[at])
			model[at] = 0;
	state.end = off + len;
}

static void model_resize(uint64_t end)
{
	for (uint64_t at = state.end; at < end; at++)
		if (!state.is_written[at])
			model[at] = 0;
	memset(state.is_written + end, false, SPAN - end);
	state.end = end;
}

START_TEST(every_byte_is_what_a_model_says)
{
	static unsigned char data[8192];
	struct io_file other;

	seed = (unsigned int)_i * 7919 + 1;
	memset(&state, 0, sizeof(state));
	file_open(&other, 0);
	for (unsigned int step = 0; step < 300; step++) {
		bool is_own = pick(4);
		struct io_file *file = is_own ? f : &other;
		uint64_t len = pick(sizeof(data)) + 1;
		uint64_t off = pick((unsigned int)(SPAN - len));

		calls_forget();
		memset(data, 'A' + (int)(step % 50), sizeof(data));
		switch (pick(16)) {
		case 0:
			/* as a truncation does */
			ck_assert_int_eq(clear(f), 0);
			start(f);
			state.is_live = true;
			state.end = 0;
			memset(state.is_written, false, SPAN);
			break;
		case 1:
			ck_assert_int_eq(clear(f), 0);
			break;
		case 2:
			if (!state.is_live)
				break;
			ck_assert_int_eq(clear(f), 0);
			image_set_end(&fixture_eng.images, &f->image, off, false);
			model_resize(off);
			break;
		case 3:
			ck_assert_int_eq(
				call_run(call_new(IO_ZERO, file, off, len)), 0);
			model_write(off, len, NULL, false);
			break;
		case 4:
			read_back(file);
			break;
		default:
			ck_assert_int_eq(write_at(file, off, len, data),
					 (ssize_t)len);
			model_write(off, len, data, is_own);
			break;
		}
	}
	read_back(&other);
	ck_assert_int_eq(clear(f), 0);
	read_back(&other);
	ck_assert_mem_eq(fake_mem(0), model, SPAN);
	readahead_free(&other.ra, &fixture_eng.ra);
}
END_TEST

Suite *image_suite(void)
{
	Suite *suite = suite_create("image");
	TCase *tc = tcase_create("image");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, holes_are_zeros_before_and_after_they_are_cleared);
	tcase_add_test(tc, write_that_failed_leaves_a_hole);
	tcase_add_test(tc, clear_that_failed_is_still_to_be_made);
	tcase_add_loop_test(tc, write_during_a_clear_of_its_bytes_comes_after_it,
			    0, 2);
	tcase_add_test(tc, bytes_that_are_being_written_are_not_cleared);
	tcase_add_test(tc, reset_takes_the_image_with_it);
	tcase_add_test(tc, number_of_ranges_is_bounded);
	tcase_add_loop_test(tc, every_byte_is_what_a_model_says, 0, 8);
	suite_add_tcase(suite, tc);
	return suite;
}
