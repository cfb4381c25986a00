// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring of what happened last, and its text. */
#include <pthread.h>
#include <string.h>

#include "base/trace.h"
#include "base/util.h"
#include "suites.h"
#include "text/trace.h"

static struct trace_span spans[TRACE_LEN + 1];
static char text[TRACE_TEXT_MAX];

static void add(uint64_t i)
{
	trace_add(&(struct trace_span){
		.kind = TRACE_READ, .start = i, .end = i + 1 });
}

START_TEST(ring_keeps_the_last_in_their_order)
{
	size_t n;

	trace_slot(-1); /* of a test before this one */
	for (uint64_t i = 0; i < TRACE_LEN + 10; i++)
		add(i);
	n = trace_copy(spans);
	ck_assert_uint_eq(n, TRACE_LEN);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(spans[i].start, i + 10);
}
END_TEST

START_TEST(one_die_is_in_the_slot_at_a_time)
{
	size_t n;

	trace_slot(3);
	trace_slot(3);
	trace_slot(5);
	n = trace_copy(spans);
	ck_assert_uint_ge(n, 2);
	ck_assert_int_eq(spans[n - 2].kind, TRACE_SLOT);
	ck_assert_uint_eq(spans[n - 2].die, 3);
	ck_assert_uint_eq(spans[n - 1].die, 5);
	ck_assert_uint_eq(spans[n - 2].end, spans[n - 1].start);
	trace_slot(-1);
	n = trace_copy(spans);
	ck_assert_int_eq(spans[n - 1].kind, TRACE_SLOT);
	ck_assert_uint_eq(spans[n - 1].die, 5);
}
END_TEST

START_TEST(time_in_the_slot_goes_on_while_a_die_is_in)
{
	uint64_t before[TRACE_MAX_DIES], after[TRACE_MAX_DIES];
	uint64_t start, end;

	trace_slot(3);
	start = trace_slot_times(before);
	end = trace_slot_times(after);
	ck_assert_uint_eq(after[3] - before[3], end - start);
	ck_assert_uint_eq(after[5], before[5]);
	trace_slot(5);
	start = trace_slot_times(before);
	end = trace_slot_times(after);
	ck_assert_uint_eq(after[3], before[3]);
	ck_assert_uint_eq(after[5] - before[5], end - start);
	trace_slot(-1);
	trace_slot_times(before);
	trace_slot_times(after);
	ck_assert_mem_eq(before, after, sizeof(before));
}
END_TEST

static void *add_many(void *arg)
{
	for (uint64_t i = 0; i < 10000; i++)
		add(i);
	return arg;
}

START_TEST(spans_of_several_threads_are_whole)
{
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, add_many, NULL), 0);
	for (unsigned int i = 0; i < 20; i++) {
		size_t n = trace_copy(spans);

		for (size_t j = 0; j < n; j++)
			ck_assert(spans[j].kind == TRACE_SLOT ||
				  spans[j].end == spans[j].start + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(what_overlaps_is_two_events_in_the_order_of_time)
{
	static const struct trace_span two[] = {
		{ .kind = TRACE_WAIT, .die = 1, .pid = 7, .start = 2000, .end = 9001 },
		{ .kind = TRACE_SLOT, .die = 0, .start = 1000, .end = 5000 },
	};
	const char *at = text;

	ck_assert_uint_eq(trace_text(two, 2, 2, text), strlen(text));
	at = strstr(at, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"in the slot\""
			",\"ts\":1.000,\"dur\":4.000,");
	ck_assert_ptr_nonnull(at);
	at = strstr(at, "{\"ph\":\"b\",\"pid\":1,\"tid\":3,\"name\":\"wait\""
			",\"ts\":2.000,\"cat\":\"request\",\"id\":0,"
			"\"args\":{\"bytes\":0,\"pid\":7}}");
	ck_assert_ptr_nonnull(at);
	at = strstr(at, "{\"ph\":\"e\",\"pid\":1,\"tid\":3,\"name\":\"wait\""
			",\"ts\":9.001,\"cat\":\"request\",\"id\":0}");
	ck_assert_ptr_nonnull(at);
}
END_TEST

START_TEST(longest_text_fits)
{
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
		spans[i] = (struct trace_span){ .kind = TRACE_WRITE,
						.die = 15,
						.pid = INT32_MIN,
						.start = UINT64_MAX - 1,
						.end = UINT64_MAX,
						.bytes = UINT64_MAX };
	len = trace_text(spans, ARRAY_SIZE(spans), 16, text);
	ck_assert_uint_lt(len, TRACE_TEXT_MAX - 1);
	ck_assert_str_eq(text + len - 4, "\n]}\n");
}
END_TEST

Suite *trace_suite(void)
{
	Suite *suite = suite_create("trace");
	TCase *ring = tcase_create("ring");
	TCase *words = tcase_create("text");

	tcase_add_test(ring, ring_keeps_the_last_in_their_order);
	tcase_add_test(ring, one_die_is_in_the_slot_at_a_time);
	tcase_add_test(ring, time_in_the_slot_goes_on_while_a_die_is_in);
	tcase_add_test(ring, spans_of_several_threads_are_whole);
	suite_add_tcase(suite, ring);
	tcase_add_test(words, what_overlaps_is_two_events_in_the_order_of_time);
	tcase_add_test(words, longest_text_fits);
	suite_add_tcase(suite, words);
	return suite;
}
