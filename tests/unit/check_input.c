// SPDX-License-Identifier: GPL-2.0-or-later
/* Where k80-owner takes commands from. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "owner/input.h"
#include "suites.h"
#include "support.h"

static char *root;
static char why[512];

static void setup(void)
{
	root = support_tempdir();
	umask(022);
	*why = '\0';
}

static void teardown(void)
{
	support_remove(root);
}

static int open_it(const char *name)
{
	return input_open(support_path(root, name), why, sizeof(why));
}

START_TEST(open_makes_a_fifo_of_ones_own)
{
	struct stat st;
	int fd = open_it("f");

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(S_ISFIFO(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	close(fd);
}
END_TEST

START_TEST(fifo_has_no_end_and_keeps_what_is_between_two_writers)
{
	char buf[16] = "";
	int fd = open_it("f"), w;

	ck_assert_int_ge(fd, 0);
	for (int i = 0; i < 2; i++) {
		w = open(support_path(root, "f"), O_WRONLY);
		ck_assert_int_eq(write(w, "ab", 2), 2);
		close(w);
	}
	ck_assert_int_eq(read(fd, buf, sizeof(buf)), 4);
	ck_assert_str_eq(buf, "abab");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	ck_assert_int_eq(read(fd, buf, sizeof(buf)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(fd);
}
END_TEST

START_TEST(open_of_a_file_gives_it_from_its_start)
{
	char c;
	int fd = open(support_path(root, "f"), O_WRONLY | O_CREAT, 0644);

	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	fd = open_it("f");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, &c, 1), 1);
	ck_assert_int_eq(c, 'x');
	close(fd);
}
END_TEST

static const mode_t open_modes[] = { 0620, 0602, 0666 };

START_TEST(open_of_what_others_may_write_is_refused)
{
	ck_assert_int_eq(mkfifo(support_path(root, "f"), 0600), 0);
	chmod(support_path(root, "f"), open_modes[_i]);
	ck_assert_int_eq(open_it("f"), -EPERM);
	ck_assert_ptr_nonnull(strstr(why, "others may write"));
}
END_TEST

START_TEST(open_of_somebody_elses_is_refused)
{
	if (geteuid())
		return;
	ck_assert_int_eq(mkfifo(support_path(root, "f"), 0600), 0);
	ck_assert_int_eq(chown(support_path(root, "f"), 65534, 65534), 0);
	ck_assert_int_eq(open_it("f"), -EPERM);
	ck_assert_ptr_nonnull(strstr(why, "somebody else's"));
}
END_TEST

START_TEST(open_of_neither_fifo_nor_file_is_refused)
{
	ck_assert_int_eq(open_it("."), -EPERM);
	ck_assert_int_eq(input_open("/dev/null", why, sizeof(why)), -EPERM);
	ck_assert_ptr_nonnull(strstr(why, "neither"));
	ck_assert_int_eq(open_it("none/f"), -ENOENT);
}
END_TEST

Suite *input_suite(void)
{
	Suite *suite = suite_create("input");
	TCase *files = tcase_create("files");

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, open_makes_a_fifo_of_ones_own);
	tcase_add_test(files,
		       fifo_has_no_end_and_keeps_what_is_between_two_writers);
	tcase_add_test(files, open_of_a_file_gives_it_from_its_start);
	tcase_add_loop_test(files, open_of_what_others_may_write_is_refused, 0,
			    3);
	tcase_add_test(files, open_of_somebody_elses_is_refused);
	tcase_add_test(files, open_of_neither_fifo_nor_file_is_refused);
	suite_add_tcase(suite, files);
	return suite;
}
