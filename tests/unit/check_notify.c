// SPDX-License-Identifier: GPL-2.0-or-later
/* What a service manager gets to read. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/notify.h"
#include "base/util.h"
#include "suites.h"
#include "support.h"

static int manager = -1;

/* A name of the abstract namespace, which leaves no file behind. */
static void setup(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[sizeof(address.sun_path)];
	int len = snprintf(name, sizeof(name), "@k80-check-notify-%d", getpid());

	memcpy(address.sun_path + 1, name + 1, (size_t)len - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
					  (size_t)len)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
}

static void teardown(void)
{
	close(manager);
	notify_init(false);
}

/* The next message, or "" if there is none. */
static const char *told(void)
{
	static char text[4096];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

START_TEST(name_is_taken_out_of_the_environment_wanted_or_not)
{
	notify_init(_i);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_int_eq(notify_is_on(), _i);
	notify(NOTIFY_READY, "here");
	ck_assert_str_eq(told(), _i ? "READY=1\nSTATUS=here" : "");
}
END_TEST

static const char *const no_names[] = { "", "/", "@", "relative", "vsock:2:9" };

START_TEST(name_that_is_none_is_nobody)
{
	setenv("NOTIFY_SOCKET", no_names[_i], 1);
	notify_init(true);
	ck_assert(!notify_is_on());
	notify(NOTIFY_READY, "here");
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
}
END_TEST

START_TEST(name_that_is_too_long_is_nobody)
{
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];

	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	notify_init(true);
	ck_assert(!notify_is_on());
}
END_TEST

START_TEST(path_is_told_too)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *dir = support_tempdir();
	const char *path = support_path(dir, "socket");

	close(manager);
	strcpy(address.sun_path, path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
		bind(manager, (struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
	notify_init(true);
	notify(NOTIFY_READY, "%d %s", 6, "dies");
	ck_assert_str_eq(told(), "READY=1\nSTATUS=6 dies");
	support_remove(dir);
}
END_TEST

START_TEST(words_come_in_their_order_and_late_ones_not_at_all)
{
	notify_init(true);
	notify(NOTIFY_RUNNING, "early");
	ck_assert_str_eq(told(), "");
	notify(NOTIFY_READY, "one");
	ck_assert_str_eq(told(), "READY=1\nSTATUS=one");
	notify(NOTIFY_RUNNING, "two");
	ck_assert_str_eq(told(), "STATUS=two");
	notify(NOTIFY_STOPPING, "three");
	ck_assert_str_eq(told(), "STOPPING=1\nSTATUS=three");
	notify(NOTIFY_RUNNING, "four");
	notify(NOTIFY_READY, "five");
	ck_assert_str_eq(told(), "");
	notify(NOTIFY_STOPPING, "six");
	ck_assert_str_eq(told(), "STOPPING=1\nSTATUS=six");
}
END_TEST

START_TEST(what_was_told_last_is_not_told_again)
{
	notify_init(true);
	notify(NOTIFY_READY, "same");
	told();
	notify(NOTIFY_RUNNING, "same");
	ck_assert_str_eq(told(), "");
	notify(NOTIFY_STOPPING, "same");
	ck_assert_str_eq(told(), "STOPPING=1\nSTATUS=same");
	notify(NOTIFY_STOPPING, "same");
	ck_assert_str_eq(told(), "");
}
END_TEST

/* A line of its own would be a word: FDSTORE=1, say. */
START_TEST(text_is_one_line_and_is_cut)
{
	char text[1024];

	notify_init(true);
	notify(NOTIFY_READY, "a\nMAINPID=1\tb");
	ck_assert_str_eq(told(), "READY=1\nSTATUS=a?MAINPID=1?b");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	notify(NOTIFY_RUNNING, "%s", text);
	ck_assert_uint_lt(strlen(told()), sizeof(text) / 2);
}
END_TEST

/* Whether the manager's queue takes another word at once. */
static bool has_room(void)
{
	struct sockaddr_un address;
	socklen_t len = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool is_sent;

	getsockname(manager, (struct sockaddr *)&address, &len);
	is_sent = sendto(fd, "x", 1, 0, (struct sockaddr *)&address, len) == 1;
	close(fd);
	return is_sent;
}

START_TEST(manager_that_hangs_is_not_waited_for_for_ever)
{
	notify_init(true);
	while (has_room())
		;
	notify(NOTIFY_READY, "unread");
	while (*told())
		;
	notify(NOTIFY_RUNNING, "read");
	ck_assert_str_eq(told(), "STATUS=read");
}
END_TEST

Suite *notify_suite(void)
{
	Suite *suite = suite_create("notify");
	TCase *tcase = tcase_create("words");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(
		tcase, name_is_taken_out_of_the_environment_wanted_or_not, 0, 2);
	tcase_add_loop_test(tcase, name_that_is_none_is_nobody, 0,
			    ARRAY_SIZE(no_names));
	tcase_add_test(tcase, name_that_is_too_long_is_nobody);
	tcase_add_test(tcase, path_is_told_too);
	tcase_add_test(tcase, words_come_in_their_order_and_late_ones_not_at_all);
	tcase_add_test(tcase, what_was_told_last_is_not_told_again);
	tcase_add_test(tcase, text_is_one_line_and_is_cut);
	tcase_add_test(tcase, manager_that_hangs_is_not_waited_for_for_ever);
	suite_add_tcase(suite, tcase);
	return suite;
}
