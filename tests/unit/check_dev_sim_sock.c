// SPDX-License-Identifier: GPL-2.0-or-later
/* The control socket of the simulator. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/barswap.h"
#include "suites.h"
#include "support.h"

#define MANY_CLIENTS 20

static char *dir, *path;
static bs_context *ctx;

static bs_context *open_sim(void)
{
	char device[256];

	snprintf(device, sizeof(device), "sim:dies=2,vram=4K,ctl=%s", path);
	return bs_init_device(device);
}

static void make_dir(void)
{
	dir = support_tempdir();
	path = strdup(support_path(dir, "ctl"));
}

static void remove_dir(void)
{
	free(path);
	support_remove(dir);
}

static void setup(void)
{
	make_dir();
	ctx = open_sim();
	ck_assert_ptr_nonnull(ctx);
}

static void teardown(void)
{
	bs_free(ctx);
	ctx = NULL;
	remove_dir();
}

static struct sockaddr_un address(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	ck_assert_uint_lt(strlen(path), sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	return addr;
}

static int dial(void)
{
	struct sockaddr_un addr = address();
	struct timeval limit = { .tv_sec = SUPPORT_WAIT_MS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
			 (ssize_t)strlen(text));
}

/* Exactly that text comes, in however many pieces. */
static void hear(int fd, const char *want)
{
	char got[256] = "";
	size_t len = strlen(want);

	ck_assert_int_eq(recv(fd, got, len, MSG_WAITALL), (ssize_t)len);
	ck_assert_str_eq(got, want);
}

static void hear_end(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	/* a reset says that some of ours was not read */
	ck_assert(n == 0 || (n < 0 && errno == ECONNRESET));
	close(fd);
}

static int is_alive(int die)
{
	return bs_acquire_flags(ctx, die, 0, NULL) == 0;
}

START_TEST(socket_is_private_and_goes_with_the_context)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	bs_free(ctx);
	ctx = NULL;
	ck_assert_int_eq(support_n_entries(dir), 0);
}
END_TEST

START_TEST(lines_are_answered_in_order)
{
	int fd = dial();

	say(fd, "dead 0\nnonsense\ndead 9\n\nrevive 0\ndead 1\n");
	hear(fd, "ok\nerror: Invalid argument\nerror: No such device\n"
		 "error: Invalid argument\nok\nok\n");
	ck_assert_int_eq(is_alive(0), 1);
	ck_assert_int_eq(is_alive(1), 0);
	close(fd);
}
END_TEST

START_TEST(line_in_pieces_is_one_order)
{
	int fd = dial();

	say(fd, "de");
	say(fd, "ad ");
	say(fd, "0");
	ck_assert_int_eq(is_alive(0), 1);
	say(fd, "\n");
	hear(fd, "ok\n");
	ck_assert_int_eq(is_alive(0), 0);
	close(fd);
}
END_TEST

START_TEST(last_line_needs_no_newline)
{
	int fd = dial();

	say(fd, "dead 0");
	shutdown(fd, SHUT_WR);
	hear(fd, "ok\n");
	hear_end(fd);
	ck_assert_int_eq(is_alive(0), 0);
}
END_TEST

START_TEST(line_with_a_nul_is_not_cut_to_an_order)
{
	int fd = dial();

	ck_assert_int_eq(send(fd, "dead 0\0 1\n", 10, 0), 10);
	hear(fd, "error: Invalid argument\n");
	ck_assert_int_eq(is_alive(0), 1);
	close(fd);
}
END_TEST

START_TEST(overlong_line_ends_the_connection)
{
	char text[1024];
	int fd = dial();

	memset(text, 'x', sizeof(text));
	ck_assert_int_gt(send(fd, text, sizeof(text), MSG_NOSIGNAL), 0);
	hear_end(fd);
	fd = dial();
	say(fd, "dead 0\n");
	hear(fd, "ok\n");
	close(fd);
}
END_TEST

START_TEST(idle_clients_do_not_block_others)
{
	int idle = dial(), other = dial();

	say(idle, "dea");
	say(other, "dead 1\n");
	hear(other, "ok\n");
	close(other);
	say(idle, "d 0\n");
	hear(idle, "ok\n");
	close(idle);
}
END_TEST

START_TEST(one_client_too_many_is_hung_up_on)
{
	int fd[MANY_CLIENTS];

	for (int i = 0; i < MANY_CLIENTS; i++)
		fd[i] = dial();
	hear_end(fd[MANY_CLIENTS - 1]);
	say(fd[0], "dead 0\n");
	hear(fd[0], "ok\n");
	for (int i = 0; i < MANY_CLIENTS - 1; i++)
		close(fd[i]);
	/* and their places are free again */
	for (int i = 0; i < MANY_CLIENTS; i++) {
		int again = dial();

		say(again, "revive 0\n");
		hear(again, "ok\n");
		close(again);
	}
}
END_TEST

START_TEST(client_that_never_reads_is_dropped)
{
	int fd = dial();
	ssize_t n;

	do {
		n = send(fd, "dead 0\n", 7, MSG_NOSIGNAL);
	} while (n > 0);
	ck_assert_int_eq(n, -1);
	ck_assert(errno == EPIPE || errno == ECONNRESET);
	close(fd);
}
END_TEST

START_TEST(free_hangs_up)
{
	int fd = dial();

	say(fd, "dead 0\n");
	hear(fd, "ok\n");
	bs_free(ctx);
	ctx = NULL;
	hear_end(fd);
}
END_TEST

START_TEST(path_in_use_returns_eaddrinuse)
{
	int fd;

	ctx = open_sim();
	errno = 0;
	ck_assert_ptr_null(open_sim());
	ck_assert_int_eq(errno, EADDRINUSE);
	fd = dial();
	say(fd, "dead 0\n");
	hear(fd, "ok\n");
	close(fd);
	bs_free(ctx);
	ctx = NULL;
}
END_TEST

START_TEST(path_of_a_file_is_left_alone)
{
	struct stat st;

	close(open(path, O_WRONLY | O_CREAT, 0600));
	errno = 0;
	ck_assert_ptr_null(open_sim());
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
}
END_TEST

START_TEST(path_of_a_dead_process_is_taken_over)
{
	struct sockaddr_un addr = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	ctx = open_sim();
	ck_assert_ptr_nonnull(ctx);
	fd = dial();
	say(fd, "dead 0\n");
	hear(fd, "ok\n");
	close(fd);
	bs_free(ctx);
	ctx = NULL;
}
END_TEST

Suite *dev_sim_sock_suite(void)
{
	Suite *suite = suite_create("dev_sim_sock");
	TCase *lines = tcase_create("lines");
	TCase *paths = tcase_create("paths");

	tcase_add_checked_fixture(lines, setup, teardown);
	tcase_set_timeout(lines, 30);
	tcase_add_test(lines, socket_is_private_and_goes_with_the_context);
	tcase_add_test(lines, lines_are_answered_in_order);
	tcase_add_test(lines, line_in_pieces_is_one_order);
	tcase_add_test(lines, last_line_needs_no_newline);
	tcase_add_test(lines, line_with_a_nul_is_not_cut_to_an_order);
	tcase_add_test(lines, overlong_line_ends_the_connection);
	tcase_add_test(lines, idle_clients_do_not_block_others);
	tcase_add_test(lines, one_client_too_many_is_hung_up_on);
	tcase_add_test(lines, client_that_never_reads_is_dropped);
	tcase_add_test(lines, free_hangs_up);
	suite_add_tcase(suite, lines);

	tcase_add_checked_fixture(paths, make_dir, remove_dir);
	tcase_add_test(paths, path_in_use_returns_eaddrinuse);
	tcase_add_test(paths, path_of_a_file_is_left_alone);
	tcase_add_test(paths, path_of_a_dead_process_is_taken_over);
	suite_add_tcase(suite, paths);
	return suite;
}
