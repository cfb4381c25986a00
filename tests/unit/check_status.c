// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of the status files. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "suites.h"
#include "support.h"
#include "text/status.h"

static const char *const die_keys[] = {
	"die",       "bdf",          "id",         "state",         "slot",
	"hold",      "holder",       "vram_bytes", "resmem_bytes",  "bar0",
	"bar1",      "bar1_bytes",   "bar3",       "bar1_mode",     "driver",
	"alive",     "generation",   "resets",     "acquires",      "swaps_in",
	"swaps_out", "last_swap_ns", "read_bytes", "written_bytes", "waiters",
	"progress",  "bar1_cache",   "last_error",
};

static const char *const root_keys[] = {
	"version",   "backend",      "transport", "copy",       "dies",
	"slots",     "active",       "mapped",    "slot_bar0",  "slot_bar1",
	"slot_bar3", "timeslice_ms", "swaps",     "last_error",
};

/* what a busy K80 shows */
static const struct status_die busy = {
	.die = 3,
	.bdf = "0000:03:00.0",
	.vendor = 0x10de,
	.device = 0x102d,
	.subvendor = 0x10de,
	.subdevice = 0x106c,
	.state = "active",
	.in_slot = true,
	.hold = "pin",
	.holder = "4711 python3",
	.vram_bytes = 12 * GIB,
	.resmem_bytes = GIB,
	.bar0 = 0xc4000000,
	.bar1 = 0xc00000000,
	.bar1_bytes = 16 * GIB,
	.bar3 = 0x1000000000,
	.bar1_mode = "physical",
	.driver = "nvidia",
	.alive = true,
	.generation = 1,
	.resets = 2,
	.acquires = 3,
	.swaps_in = 4,
	.swaps_out = 5,
	.last_swap_ns = 6,
	.read_bytes = 7,
	.written_bytes = 8,
	.waiters = 9,
	.progress = "16777216/12884901888",
	.bar1_cache = "wc",
	.last_error = "12:00:00 die 3: BAR1 wanted 0xc got 0x0",
};

static const struct status_root busy_root = {
	.version = "1.0",
	.backend = "sim",
	.transport = "/dev/fuse",
	.copy = "wb-avx2",
	.n_dies = 6,
	.n_slots = 1,
	.active = 2,
	.slot_bar0 = 0xc4000000,
	.slot_bar1 = 0xc00000000,
	.slot_bar3 = 0x1000000000,
	.timeslice_ms = 25,
	.swaps = 10,
	.last_error = "late",
};

/* room for a canary behind the text */
static struct {
	char text[STATUS_MAX];
	char canary[64];
} out;

static void setup(void)
{
	memset(&out, '#', sizeof(out));
}

static void teardown(void)
{
	for (size_t i = 0; i < sizeof(out.canary); i++)
		ck_assert_int_eq(out.canary[i], '#');
}

static size_t render_die(const struct status_die *s)
{
	size_t len = status_die_text(s, out.text);

	ck_assert_uint_lt(len, STATUS_MAX);
	ck_assert_uint_eq(strlen(out.text), len);
	return len;
}

static size_t render_root(const struct status_root *s)
{
	size_t len = status_root_text(s, out.text);

	ck_assert_uint_lt(len, STATUS_MAX);
	ck_assert_uint_eq(strlen(out.text), len);
	return len;
}

/* The value of @key in the text, without the padding behind it. */
static const char *value_of(const char *key)
{
	static char value[STATUS_MAX];
	size_t n = strlen(key);

	for (const char *p = out.text; *p; p = strchr(p, '\n') + 1) {
		size_t len = strcspn(p, "\n");

		ck_assert_int_eq(p[len], '\n');
		if (len <= n || strncmp(p, key, n) || p[n] != ' ')
			continue;
		memcpy(value, p + n + 1, len - n - 1);
		len -= n + 1;
		while (len && value[len - 1] == ' ')
			len--;
		value[len] = '\0';
		return value;
	}
	ck_abort_msg("no key %s", key);
}

/* Every line is "KEY VALUE" with these keys in this order, and no other. */
static void assert_keys(const char *const *keys, size_t n)
{
	const char *p = out.text;

	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(p, "\n");

		ck_assert_msg(strcspn(p, " \n") == strlen(keys[i]) &&
				      !strncmp(p, keys[i], strlen(keys[i])),
			      "line %zu is '%.*s', wanted %s", i, (int)len, p,
			      keys[i]);
		ck_assert_int_eq(p[strlen(keys[i])], ' ');
		ck_assert_uint_gt(len, strlen(keys[i]) + 1);
		ck_assert_int_eq(p[len], '\n');
		p += len + 1;
	}
	ck_assert_str_eq(p, "");
}

START_TEST(die_keys_come_in_the_published_order)
{
	static const struct status_die nothing;

	render_die(_i ? &busy : &nothing);
	assert_keys(die_keys, ARRAY_SIZE(die_keys));
}
END_TEST

/* Of a device that its driver owns, more is known; last_error stays last. */
START_TEST(device_keys_come_before_last_error)
{
	static const char wanted[] = "\nname NVIDIA H200\ndriver_version 13.1\n"
				     "memory_free 3221225472 ";
	struct status_die s = busy;
	const char *at;

	s.name = "NVIDIA H200";
	s.driver_version = 13010;
	s.memory_free = 3 * GIB;
	s.memory_total = 4 * GIB;
	status_die_text(&s, out.text);
	at = strstr(out.text, "\nprogress ");
	ck_assert_ptr_nonnull(at);
	at = strchr(at + 1, '\n');
	ck_assert_msg(!strncmp(at, wanted, sizeof(wanted) - 1), "%s", at);
	at = strstr(at, "\nmemory_total 4294967296 ");
	ck_assert_ptr_nonnull(at);
	at = strchr(at + 1, '\n');
	ck_assert(!strncmp(at, "\nbar1_cache ", 12));
	at = strchr(at + 1, '\n');
	ck_assert(!strncmp(at, "\nlast_error ", 12));
	ck_assert_str_eq(strchr(at + 1, '\n'), "\n");
}
END_TEST

/* Only where mem folders were asked for. */
START_TEST(mem_keys_come_before_bar1_cache)
{
	static const char wanted[] = "\nmem yes\nmem_files 3 ";
	struct status_die s = busy;
	const char *at;

	render_die(&s);
	ck_assert_ptr_null(strstr(out.text, "\nmem"));
	s.shows_mem = true;
	s.mem_files = 3;
	s.mem_bytes = 4096;
	s.mem_lost = 1;
	status_die_text(&s, out.text);
	at = strstr(out.text, "\nmem ");
	ck_assert_ptr_nonnull(at);
	ck_assert_msg(!strncmp(at, wanted, sizeof(wanted) - 1), "%s", at);
	at = strstr(at, "\nmem_lost 1 ");
	ck_assert_ptr_nonnull(at);
	at = strchr(at + 1, '\n');
	ck_assert(!strncmp(at, "\nbar1_cache ", 12));
	s.mem_why = "cuMemCreate:\nCUDA_ERROR_NOT_SUPPORTED";
	status_die_text(&s, out.text);
	ck_assert_ptr_nonnull(strstr(
		out.text, "\nmem no: cuMemCreate: CUDA_ERROR_NOT_SUPPORTED\n"));
}
END_TEST

START_TEST(keeper_of_the_memory_comes_before_last_error)
{
	struct status_root s = busy_root;

	render_root(&s);
	ck_assert_ptr_null(strstr(out.text, "mem_keeper"));
	ck_assert_ptr_null(strstr(out.text, "mem_share"));
	s.mem_keeper = "4711 /run/k80fs/keeper.sock";
	s.mem_share = "/run/k80fs/share.4711.0.sock";
	status_root_text(&s, out.text);
	ck_assert_ptr_nonnull(strstr(
		out.text, "\nmem_keeper 4711 /run/k80fs/keeper.sock\n"
			  "mem_share /run/k80fs/share.4711.0.sock\nlast_error "));
}
END_TEST

START_TEST(root_keys_come_in_the_published_order)
{
	static const struct status_root nothing = { .active = -1 };

	render_root(_i ? &busy_root : &nothing);
	assert_keys(root_keys, ARRAY_SIZE(root_keys));
}
END_TEST

static const char *const die_values[][2] = {
	{ "die", "3" },
	{ "bdf", "0000:03:00.0" },
	{ "id", "10de:102d 10de:106c" },
	{ "state", "active" },
	{ "slot", "0" },
	{ "hold", "pin" },
	{ "holder", "4711 python3" },
	{ "vram_bytes", "12884901888" },
	{ "resmem_bytes", "1073741824" },
	{ "bar0", "0xc4000000" },
	{ "bar1", "0xc00000000" },
	{ "bar1_bytes", "17179869184" },
	{ "bar3", "0x1000000000" },
	{ "bar1_mode", "physical" },
	{ "driver", "nvidia" },
	{ "alive", "1" },
	{ "generation", "1" },
	{ "resets", "2" },
	{ "acquires", "3" },
	{ "swaps_in", "4" },
	{ "swaps_out", "5" },
	{ "last_swap_ns", "6" },
	{ "read_bytes", "7" },
	{ "written_bytes", "8" },
	{ "waiters", "9" },
	{ "progress", "16777216/12884901888" },
	{ "bar1_cache", "wc" },
	{ "last_error", "12:00:00 die 3: BAR1 wanted 0xc got 0x0" },
};

START_TEST(die_shows_each_value_behind_its_key)
{
	render_die(&busy);
	ck_assert_str_eq(value_of(die_values[_i][0]), die_values[_i][1]);
}
END_TEST

static const char *const root_values[][2] = {
	{ "version", "1.0" },
	{ "backend", "sim" },
	{ "transport", "/dev/fuse" },
	{ "copy", "wb-avx2" },
	{ "dies", "6" },
	{ "slots", "1" },
	{ "active", "2" },
	{ "mapped", "0 0 1 0 0 0" },
	{ "slot_bar0", "0xc4000000" },
	{ "slot_bar1", "0xc00000000" },
	{ "slot_bar3", "0x1000000000" },
	{ "timeslice_ms", "25" },
	{ "swaps", "10" },
	{ "last_error", "late" },
};

START_TEST(root_shows_each_value_behind_its_key)
{
	render_root(&busy_root);
	ck_assert_str_eq(value_of(root_values[_i][0]), root_values[_i][1]);
}
END_TEST

static const char *const die_may_be_none[] = {
	"bdf",    "slot", "holder",   "bar0",       "bar1",       "bar3",
	"driver", "hold", "progress", "bar1_cache", "last_error",
};

START_TEST(die_shows_none_for_what_it_has_not)
{
	struct status_die s = busy;

	s.in_slot = false;
	s.bar0 = s.bar1 = s.bar3 = 0;
	/* both ways of having no string */
	s.bdf = s.holder = s.driver = "";
	s.hold = s.progress = s.bar1_cache = s.last_error = NULL;
	render_die(&s);
	ck_assert_str_eq(value_of(die_may_be_none[_i]), "none");
}
END_TEST

START_TEST(root_with_a_vacant_slot_shows_none_and_zeroes)
{
	struct status_root s = busy_root;

	s.active = -1;
	s.slot_bar0 = s.slot_bar1 = s.slot_bar3 = 0;
	s.last_error = "";
	s.timeslice_ms = 0;
	render_root(&s);
	ck_assert_str_eq(value_of("active"), "none");
	ck_assert_str_eq(value_of("mapped"), "0 0 0 0 0 0");
	ck_assert_str_eq(value_of("slot_bar0"), "none");
	ck_assert_str_eq(value_of("slot_bar1"), "none");
	ck_assert_str_eq(value_of("slot_bar3"), "none");
	ck_assert_str_eq(value_of("timeslice_ms"), "auto");
	ck_assert_str_eq(value_of("last_error"), "none");
}
END_TEST

/* A file's length is read before its text: counters must not change it. */
START_TEST(counters_do_not_change_the_length)
{
	struct status_die s = busy;
	size_t len = render_die(&s);

	s.generation = s.resets = s.acquires = s.swaps_in = UINT64_MAX;
	s.swaps_out = s.last_swap_ns = s.read_bytes = UINT64_MAX;
	s.written_bytes = s.waiters = UINT64_MAX;
	ck_assert_uint_eq(render_die(&s), len);
	ck_assert_str_eq(value_of("written_bytes"), "18446744073709551615");
	s.generation = s.resets = s.acquires = s.swaps_in = 0;
	s.swaps_out = s.last_swap_ns = s.read_bytes = 0;
	s.written_bytes = s.waiters = 0;
	ck_assert_uint_eq(render_die(&s), len);
}
END_TEST

START_TEST(root_counter_does_not_change_the_length)
{
	struct status_root s = busy_root;
	size_t len = render_root(&s);

	s.swaps = UINT64_MAX;
	ck_assert_uint_eq(render_root(&s), len);
	ck_assert_str_eq(value_of("swaps"), "18446744073709551615");
}
END_TEST

static const char *const hostile[] = {
	"\n",        "a\nalive 1",     "a\r\nalive 1", "\talive 1\n\n",
	"alive 1\n", "\x1b[2Jalive 1", "\x01\x02\x1f", "a\vb\fc",
};

/* Process names and kernel texts are not ours. */
START_TEST(control_characters_make_no_new_line)
{
	struct status_die s = busy;
	struct status_root root = busy_root;

	s.bdf = s.holder = s.driver = s.last_error = hostile[_i];
	s.hold = s.state = s.bar1_mode = s.progress = hostile[_i];
	render_die(&s);
	assert_keys(die_keys, ARRAY_SIZE(die_keys));
	for (const char *p = out.text; *p; p++)
		ck_assert(*p == '\n' || (unsigned char)*p >= ' ');

	root.version = root.backend = root.transport = hostile[_i];
	root.copy = root.last_error = hostile[_i];
	render_root(&root);
	assert_keys(root_keys, ARRAY_SIZE(root_keys));
	for (const char *p = out.text; *p; p++)
		ck_assert(*p == '\n' || (unsigned char)*p >= ' ');
}
END_TEST

/* The longest strings of struct bs_info and of the scheduler. */
START_TEST(longest_die_text_fits)
{
	char error[256], driver[32], bdf[16], holder[32];
	struct status_die s = {
		.die = 15,
		.bdf = bdf,
		.vendor = 0xffff,
		.device = 0xffff,
		.subvendor = 0xffff,
		.subdevice = 0xffff,
		.state = "unusable",
		.in_slot = true,
		.hold = "lease",
		.holder = holder,
		.vram_bytes = UINT64_MAX,
		.resmem_bytes = UINT64_MAX,
		.bar0 = UINT64_MAX,
		.bar1 = UINT64_MAX,
		.bar1_bytes = UINT64_MAX,
		.bar3 = UINT64_MAX,
		.bar1_mode = "physical",
		.driver = driver,
		.alive = true,
		.generation = UINT64_MAX,
		.progress = "18446744073709551615/18446744073709551615",
		.last_error = error,
	};

	memset(error, 'e', sizeof(error));
	memset(driver, 'd', sizeof(driver));
	memset(bdf, 'b', sizeof(bdf));
	memset(holder, 'h', sizeof(holder));
	error[255] = driver[31] = bdf[15] = holder[31] = '\0';
	render_die(&s);
	assert_keys(die_keys, ARRAY_SIZE(die_keys));
	ck_assert_str_eq(value_of("last_error"), error);
	ck_assert_str_eq(value_of("driver"), driver);
}
END_TEST

START_TEST(longest_root_text_fits)
{
	char error[256];
	struct status_root s = {
		.version = "1.0",
		.backend = "bar_swap",
		.transport = "/dev/fuse",
		.copy = "copy-routine-of-a-long-name",
		.n_dies = 16,
		.n_slots = 1,
		.active = 15,
		.slot_bar0 = UINT64_MAX,
		.slot_bar1 = UINT64_MAX,
		.slot_bar3 = UINT64_MAX,
		.timeslice_ms = UINT32_MAX,
		.swaps = UINT64_MAX,
		.last_error = error,
	};

	memset(error, 'e', sizeof(error));
	error[255] = '\0';
	render_root(&s);
	assert_keys(root_keys, ARRAY_SIZE(root_keys));
	ck_assert_str_eq(value_of("mapped"), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1");
	ck_assert_str_eq(value_of("last_error"), error);
}
END_TEST

/* More than anyone hands in: cut, never written behind the buffer. */
START_TEST(text_that_is_too_long_stays_inside_the_buffer)
{
	static char error[2 * STATUS_MAX];
	struct status_die s = busy;
	struct status_root root = busy_root;

	memset(error, 'e', sizeof(error) - 1);
	s.last_error = error;
	ck_assert_uint_gt(render_die(&s), STATUS_MAX / 2);
	root.last_error = error;
	ck_assert_uint_gt(render_root(&root), STATUS_MAX / 2);
}
END_TEST

Suite *status_suite(void)
{
	Suite *suite = suite_create("status");
	TCase *order = tcase_create("order");
	TCase *values = tcase_create("values");
	TCase *limits = tcase_create("limits");

	tcase_add_checked_fixture(order, setup, teardown);
	tcase_add_loop_test(order, die_keys_come_in_the_published_order, 0, 2);
	tcase_add_loop_test(order, device_keys_come_before_last_error, 0, 2);
	tcase_add_test(order, mem_keys_come_before_bar1_cache);
	tcase_add_test(order, keeper_of_the_memory_comes_before_last_error);
	tcase_add_loop_test(order, root_keys_come_in_the_published_order, 0, 2);
	suite_add_tcase(suite, order);

	tcase_add_checked_fixture(values, setup, teardown);
	tcase_add_loop_test(values, die_shows_each_value_behind_its_key, 0,
			    ARRAY_SIZE(die_values));
	tcase_add_loop_test(values, root_shows_each_value_behind_its_key, 0,
			    ARRAY_SIZE(root_values));
	tcase_add_loop_test(values, die_shows_none_for_what_it_has_not, 0,
			    ARRAY_SIZE(die_may_be_none));
	tcase_add_test(values, root_with_a_vacant_slot_shows_none_and_zeroes);
	suite_add_tcase(suite, values);

	tcase_add_checked_fixture(limits, setup, teardown);
	tcase_add_test(limits, counters_do_not_change_the_length);
	tcase_add_test(limits, root_counter_does_not_change_the_length);
	tcase_add_loop_test(limits, control_characters_make_no_new_line, 0,
			    ARRAY_SIZE(hostile));
	tcase_add_test(limits, longest_die_text_fits);
	tcase_add_test(limits, longest_root_text_fits);
	tcase_add_test(limits, text_that_is_too_long_stays_inside_the_buffer);
	suite_add_tcase(suite, limits);
	return suite;
}
