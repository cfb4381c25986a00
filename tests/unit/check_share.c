// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors of chunks for whoever has a token, both sides of the socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "fake_memory.h"
#include "k80mem/ask.h"
#include "k80mem/k80mem.h"
#include "mem/share.h"
#include "mock_clock.h"
#include "suites.h"
#include "support.h"

#define UID   4711 /* who asks for tokens */
#define CHUNK FAKE_MEMORY_CHUNK
#define MANY  500 /* chunks: three batches */
#define store fake_memory
#define file  fake_memory_file

static char *dir;
static struct share *share;
static const struct share_source *const source = &fake_memory_source;

static void setup(void)
{
	fake_memory_reset(3);
	dir = support_tempdir();
	mock_clock_start(NSEC_PER_SEC);
	ck_assert_int_eq(share_start(&share, dir, source), 0);
}

static void teardown(void)
{
	share_stop(share);
	mock_clock_stop();
	ck_assert_int_eq(support_n_entries(dir), 0);
	support_remove(dir);
	ck_assert_int_eq(store.counted, 0);
	ck_assert_int_eq(store.n_out, 0);
}

static struct k80_share token(void)
{
	struct k80_share t;

	ck_assert_int_eq(share_token(share, file, UID, &t), 0);
	return t;
}

static int dial_at(const char *path)
{
	const struct timeval limit = { .tv_sec = SUPPORT_WAIT_MS / 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static int dial(void)
{
	return dial_at(share_path(share));
}

static void say(int fd, const void *msg, size_t len)
{
	ck_assert_int_eq(send(fd, msg, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void say_token(int fd, const uint8_t bytes[K80_TOKEN_LEN])
{
	struct k80_ask ask = { .magic = K80_WIRE_MAGIC };

	memcpy(ask.token, bytes, K80_TOKEN_LEN);
	say(fd, &ask, sizeof(ask));
}

static struct k80_head head_of(int fd)
{
	struct k80_head head = { 0 };

	ck_assert_int_eq(recv(fd, &head, sizeof(head), 0), sizeof(head));
	ck_assert_uint_eq(head.magic, K80_WIRE_MAGIC);
	return head;
}

/* Its end, and that nothing came before. */
static void expect_end(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	ck_assert_msg(n == 0 || (n < 0 && errno == ECONNRESET), "%zd, %s", n,
		      strerror(errno));
	close(fd);
}

/* What spending @t comes to. */
static int spend(const struct k80_share *t)
{
	int fd = dial();
	struct k80_head head;

	say_token(fd, t->token);
	head = head_of(fd);
	close(fd);
	return head.result;
}

/* ---- tokens ---------------------------------------------------------------- */

START_TEST(token_says_length_device_and_socket)
{
	struct k80_share t = token();

	ck_assert_uint_eq(t.len, 3 * CHUNK - 1);
	ck_assert_uint_eq(t.uuid[15], 0xa5);
	ck_assert_str_eq(t.socket, share_path(share));
}
END_TEST

START_TEST(token_is_good_once)
{
	struct k80_share t = token();

	ck_assert_int_eq(spend(&t), 0);
	ck_assert_int_eq(spend(&t), -EACCES);
}
END_TEST

START_TEST(token_with_a_wrong_bit_is_refused_and_stays)
{
	struct k80_share t = token();

	for (unsigned int bit = 0; bit < 8 * K80_TOKEN_LEN; bit += 9) {
		t.token[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_int_eq(spend(&t), -EACCES);
		t.token[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ck_assert_int_eq(spend(&t), 0);
}
END_TEST

START_TEST(token_of_zeroes_is_refused)
{
	struct k80_share t = { 0 };

	ck_assert_int_eq(spend(&t), -EACCES);
}
END_TEST

START_TEST(tokens_differ)
{
	struct k80_share a = token(), b = token();

	ck_assert_mem_ne(a.token, b.token, K80_TOKEN_LEN);
}
END_TEST

START_TEST(token_is_good_until_its_time_and_no_longer)
{
	struct k80_share a = token(), b = token();

	mock_clock_advance(SHARE_TOKEN_NS - 1);
	ck_assert_int_eq(spend(&a), 0);
	mock_clock_advance(1);
	ck_assert_int_eq(spend(&b), -EACCES);
}
END_TEST

START_TEST(token_that_is_too_old_lets_go_of_its_file)
{
	token();
	ck_assert_int_eq(store.counted, 1);
	mock_clock_advance(SHARE_TOKEN_NS);
	close(dial());
	support_wait_until(!store.counted);
}
END_TEST

START_TEST(user_has_so_many_tokens_and_others_have_theirs)
{
	struct k80_share t;

	for (unsigned int i = 0; i < SHARE_UID_TOKENS; i++)
		token();
	ck_assert_int_eq(share_token(share, file, UID, &t), -EAGAIN);
	ck_assert_int_eq(share_token(share, file, UID + 1, &t), 0);
	ck_assert_int_eq(spend(&t), 0);
}
END_TEST

START_TEST(all_users_together_have_so_many_tokens)
{
	struct k80_share t;

	for (unsigned int i = 0; i < SHARE_MAX_TOKENS; i++)
		ck_assert_int_eq(share_token(share, file, i, &t), 0);
	ck_assert_int_eq(share_token(share, file, UID, &t), -EAGAIN);
}
END_TEST

START_TEST(failure_to_get_memory_is_told_with_the_token)
{
	struct k80_share t;

	store.get_error = -ENOSPC;
	ck_assert_int_eq(share_token(share, file, UID, &t), -ENOSPC);
	ck_assert_int_eq(store.counted, 0);
}
END_TEST

START_TEST(failure_to_get_memory_is_told_over_the_socket)
{
	struct k80_share t = token();

	store.get_error = -ENFILE;
	ck_assert_int_eq(spend(&t), -ENFILE);
}
END_TEST

/* ---- conversations --------------------------------------------------------- */

/* The next batch; closes what came. Returns how many. */
static unsigned int batch_of(int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * K80_BATCH_MAX)];
	} control;
	struct k80_batch batch;
	struct iovec iov = { &batch, sizeof(batch) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int fds[K80_BATCH_MAX];
	size_t n;

	ck_assert_int_eq(recvmsg(fd, &msg, MSG_CMSG_CLOEXEC), sizeof(batch));
	c = CMSG_FIRSTHDR(&msg);
	ck_assert_ptr_nonnull(c);
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	ck_assert_uint_eq(batch.n, n);
	return batch.n;
}

START_TEST(second_batch_comes_after_the_acknowledgement_of_the_first)
{
	struct k80_ack ack = { K80_BATCH_MAX };
	struct k80_share t;
	char byte;
	int fd = dial();

	store.n_chunks = MANY;
	t = token();
	say_token(fd, t.token);
	ck_assert_uint_eq(head_of(fd).n_chunks, MANY);
	ck_assert_uint_eq(batch_of(fd), K80_BATCH_MAX);
	/* another conversation, so that the thread has had its turn */
	ck_assert_int_eq(spend(&t), -EACCES);
	ck_assert_int_eq(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	say(fd, &ack, sizeof(ack));
	ck_assert_uint_eq(batch_of(fd), K80_BATCH_MAX);
	ack.n_chunks = 2 * K80_BATCH_MAX;
	say(fd, &ack, sizeof(ack));
	ck_assert_uint_eq(batch_of(fd), MANY - 2 * K80_BATCH_MAX);
	expect_end(fd);
}
END_TEST

START_TEST(wrong_acknowledgement_ends_the_conversation)
{
	struct k80_ack ack = { K80_BATCH_MAX + 1 };
	struct k80_share t;
	int fd = dial();

	store.n_chunks = MANY;
	t = token();
	say_token(fd, t.token);
	head_of(fd);
	batch_of(fd);
	say(fd, &ack, sizeof(ack));
	expect_end(fd);
	support_wait_until(!store.n_out);
}
END_TEST

START_TEST(client_that_never_acknowledges_is_ended)
{
	struct k80_share t;
	int fd = dial();

	store.n_chunks = MANY;
	t = token();
	say_token(fd, t.token);
	head_of(fd);
	batch_of(fd);
	ck_assert_int_eq(store.n_out, 1);
	mock_clock_advance(SHARE_CLIENT_NS);
	close(dial());
	expect_end(fd);
	support_wait_until(!store.n_out);
}
END_TEST

START_TEST(client_that_says_nothing_is_ended)
{
	int fd = dial();

	struct k80_share none = { 0 };

	/* it was taken before the next one was */
	ck_assert_int_eq(spend(&none), -EACCES);
	mock_clock_advance(SHARE_CLIENT_NS);
	close(dial());
	expect_end(fd);
}
END_TEST

START_TEST(message_of_another_length_ends_the_conversation)
{
	static const char junk[sizeof(struct k80_ask) + 1];
	static const size_t lens[] = { 1, sizeof(struct k80_ask) - 1,
				       sizeof(struct k80_ask) + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		int fd = dial();

		say(fd, junk, lens[i]);
		expect_end(fd);
	}
}
END_TEST

START_TEST(question_of_another_version_is_answered)
{
	struct k80_ask ask = { .magic = K80_WIRE_MAGIC + 1 };
	int fd = dial();

	say(fd, &ask, sizeof(ask));
	ck_assert_int_eq(head_of(fd).result, -EPROTO);
	expect_end(fd);
}
END_TEST

START_TEST(user_has_so_many_conversations)
{
	struct k80_share t = token();
	int fds[SHARE_UID_CLIENTS];
	char byte;
	int fd;

	for (unsigned int i = 0; i < SHARE_UID_CLIENTS; i++)
		fds[i] = dial();
	fd = dial();
	ck_assert_int_le(recv(fd, &byte, 1, 0), 0);
	close(fd);
	close(fds[0]);
	/* its place is free once its end was seen */
	support_wait_until(({
		int again = dial();
		struct k80_head head;

		say_token(again, t.token);
		fd = recv(again, &head, sizeof(head), 0) == sizeof(head);
		close(again);
		fd;
	}));
	for (unsigned int i = 1; i < SHARE_UID_CLIENTS; i++)
		close(fds[i]);
}
END_TEST

/* One that it kept would make a mount of its own hang at its death. */
START_TEST(descriptor_that_is_sent_is_not_kept)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct k80_ask ask = { .magic = K80_WIRE_MAGIC };
	struct iovec iov = { &ask, sizeof(ask) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int pipes[2], fd = dial();
	char byte;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &pipes[1], sizeof(int));
	ck_assert_int_eq(sendmsg(fd, &msg, 0), sizeof(ask));
	ck_assert_int_eq(head_of(fd).result, -EACCES);
	close(pipes[1]);
	/* nobody has the other end */
	ck_assert_int_eq(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
	close(fd);
}
END_TEST

START_TEST(stop_ends_conversations)
{
	struct share *other;
	int fd;

	ck_assert_int_eq(share_start(&other, dir, source), 0);
	fd = dial_at(share_path(other));
	share_stop(other);
	expect_end(fd);
}
END_TEST

/* ---- the socket ------------------------------------------------------------ */

START_TEST(socket_is_for_everybody)
{
	struct stat st;

	ck_assert_int_eq(stat(share_path(share), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0666);
}
END_TEST

START_TEST(start_removes_sockets_of_the_dead_and_no_others)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char other[128];
	struct share *second;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/share.1.dead.sock",
		 dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	snprintf(other, sizeof(other), "%s/keeper.sock", dir);
	close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ck_assert_int_eq(share_start(&second, dir, source), 0);
	ck_assert_int_eq(access(addr.sun_path, F_OK), -1);
	ck_assert_int_eq(access(other, F_OK), 0);
	ck_assert_int_eq(access(share_path(share), F_OK), 0);
	share_stop(second);
	unlink(other);
}
END_TEST

START_TEST(start_in_a_folder_of_a_long_name_is_refused)
{
	char name[120];
	struct share *none;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(share_start(&none, name, source), -ENAMETOOLONG);
	ck_assert_int_eq(share_start(&none, "/nowhere/at/all", source), -ENOENT);
}
END_TEST

/* ---- the client ------------------------------------------------------------ */

static struct {
	struct k80_head head;
	unsigned int n, refuse_at;
	int begin_error;
} taken;

static int take_begin(void *arg, const struct k80_head *head)
{
	(void)arg;
	taken.head = *head;
	return taken.begin_error;
}

static int take_chunk(void *arg, uint64_t len, int fd)
{
	struct stat st;

	(void)arg;
	support_assert(len == CHUNK && !fstat(fd, &st) &&
		       st.st_size == (off_t)taken.n + 1);
	if (taken.refuse_at && taken.n + 1 == taken.refuse_at)
		return -EBADF;
	taken.n++;
	return 0;
}

static const struct ask_taker taker = { take_begin, take_chunk, NULL };

static const unsigned int sizes[] = { 0, 1, 240, 241, MANY };

START_TEST(client_gets_all_chunks_in_order)
{
	int before = support_n_entries("/proc/self/fd");
	struct k80_share t;

	memset(&taken, 0, sizeof(taken));
	store.n_chunks = sizes[_i];
	t = token();
	ck_assert_int_eq(ask_chunks(&t, &taker), 0);
	ck_assert_uint_eq(taken.n, sizes[_i]);
	ck_assert_uint_eq(taken.head.bytes, sizes[_i] * CHUNK);
	ck_assert_uint_eq(taken.head.uuid[0], 0xa5);
	support_wait_until(!store.n_out);
	support_wait_until(support_n_entries("/proc/self/fd") == before);
}
END_TEST

START_TEST(client_of_a_bad_token_is_told_why)
{
	struct k80_share t = token();

	memset(&taken, 0, sizeof(taken));
	t.token[3] ^= 1;
	ck_assert_int_eq(ask_chunks(&t, &taker), -EACCES);
	ck_assert_ptr_nonnull(strstr(k80_error(), "token"));
}
END_TEST

START_TEST(client_that_refuses_leaves_nothing_open)
{
	int before = support_n_entries("/proc/self/fd");
	struct k80_share t;

	memset(&taken, 0, sizeof(taken));
	store.n_chunks = MANY;
	taken.refuse_at = 300;
	t = token();
	ck_assert_int_eq(ask_chunks(&t, &taker), -EBADF);
	ck_assert_uint_eq(taken.n, 299);
	taken.begin_error = -EDOM;
	t = token();
	ck_assert_int_eq(ask_chunks(&t, &taker), -EDOM);
	support_wait_until(!store.n_out);
	support_wait_until(support_n_entries("/proc/self/fd") == before);
}
END_TEST

START_TEST(client_of_a_socket_that_is_gone_is_refused)
{
	struct k80_share t = token();

	strcat(t.socket, "x");
	ck_assert_int_eq(ask_chunks(&t, &taker), -ENOENT);
}
END_TEST

Suite *share_suite(void)
{
	Suite *s = suite_create("share");
	TCase *tc = tcase_create("token");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, token_says_length_device_and_socket);
	tcase_add_test(tc, token_is_good_once);
	tcase_add_test(tc, token_with_a_wrong_bit_is_refused_and_stays);
	tcase_add_test(tc, token_of_zeroes_is_refused);
	tcase_add_test(tc, tokens_differ);
	tcase_add_test(tc, token_is_good_until_its_time_and_no_longer);
	tcase_add_test(tc, token_that_is_too_old_lets_go_of_its_file);
	tcase_add_test(tc, user_has_so_many_tokens_and_others_have_theirs);
	tcase_add_test(tc, all_users_together_have_so_many_tokens);
	tcase_add_test(tc, failure_to_get_memory_is_told_with_the_token);
	tcase_add_test(tc, failure_to_get_memory_is_told_over_the_socket);
	suite_add_tcase(s, tc);

	tc = tcase_create("conversation");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(
		tc, second_batch_comes_after_the_acknowledgement_of_the_first);
	tcase_add_test(tc, wrong_acknowledgement_ends_the_conversation);
	tcase_add_test(tc, client_that_never_acknowledges_is_ended);
	tcase_add_test(tc, client_that_says_nothing_is_ended);
	tcase_add_test(tc, message_of_another_length_ends_the_conversation);
	tcase_add_test(tc, question_of_another_version_is_answered);
	tcase_add_test(tc, user_has_so_many_conversations);
	tcase_add_test(tc, descriptor_that_is_sent_is_not_kept);
	tcase_add_test(tc, stop_ends_conversations);
	suite_add_tcase(s, tc);

	tc = tcase_create("socket");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, socket_is_for_everybody);
	tcase_add_test(tc, start_removes_sockets_of_the_dead_and_no_others);
	tcase_add_test(tc, start_in_a_folder_of_a_long_name_is_refused);
	suite_add_tcase(s, tc);

	tc = tcase_create("client");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, client_gets_all_chunks_in_order, 0,
			    ARRAY_SIZE(sizes));
	tcase_add_test(tc, client_of_a_bad_token_is_told_why);
	tcase_add_test(tc, client_that_refuses_leaves_nothing_open);
	tcase_add_test(tc, client_of_a_socket_that_is_gone_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
