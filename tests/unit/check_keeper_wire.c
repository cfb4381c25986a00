// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients that do not keep to the protocol, against the program itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper/wire.h"
#include "keeper_fixture.h"
#include "suites.h"
#include "support.h"

#define HEAD offsetof(struct keeper_ask, items)
#define ITEM sizeof(struct keeper_item)

/* bytes of the longest question, and some more */
#define ROOM (sizeof(struct keeper_ask) + 64)

static int sock;
static union {
	struct keeper_ask ask;
	char bytes[ROOM];
} question;

static int connect_raw(void)
{
	const struct timeval patience = { .tv_sec = SUPPORT_WAIT_MS / 1000 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(name.sun_path, keeper_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static int send_raw(int fd, size_t len, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(253 * sizeof(int))];
	} control;
	struct iovec iov = { &question, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* What the keeper answered, or 1: it has hung up. No descriptor is taken. */
static int answer(int fd)
{
	struct keeper_answer a;
	ssize_t n = recv(fd, &a, sizeof(a), 0);

	if (n < (ssize_t)offsetof(struct keeper_answer, ids))
		return 1;
	support_assert(a.version == KEEPER_VERSION);
	return a.error;
}

static void plan(enum keeper_op op, const char *uuid, unsigned int n)
{
	memset(&question, 0, sizeof(question));
	question.ask.version = KEEPER_VERSION;
	question.ask.op = (uint16_t)op;
	question.ask.n = (uint16_t)n;
	if (uuid)
		memcpy(question.ask.uuid, uuid, KEEPER_DIGITS);
	for (unsigned int i = 0; i < n && i < KEEPER_BATCH; i++)
		question.ask.items[i].id = 100 + i;
}

static int ask(enum keeper_op op, const char *uuid, unsigned int n, int fd)
{
	int fds[KEEPER_BATCH];

	for (unsigned int i = 0; i < KEEPER_BATCH; i++)
		fds[i] = fd;
	plan(op, uuid, n);
	ck_assert_int_eq(send_raw(sock, HEAD + n * ITEM, fds,
				  op == KEEPER_PUT ? n : 0),
			 0);
	return answer(sock);
}

static void setup(void)
{
	keeper_setup();
	sock = connect_raw();
	ck_assert_int_eq(ask(KEEPER_CLAIM, POOL, 0, -1), 0);
}

static void teardown(void)
{
	close(sock);
	keeper_teardown();
}

/* ---- one wrong thing ------------------------------------------------------- */

static void set_n(void)
{
	question.ask.n = 2;
}

static void set_n_huge(void)
{
	question.ask.n = UINT16_MAX;
}

static void set_flags(void)
{
	question.ask.flags = KEEPER_MORE;
}

static void set_all_flags(void)
{
	question.ask.flags = UINT32_MAX;
}

static void set_zero(void)
{
	question.ask.zero = 1;
}

static void set_from(void)
{
	question.ask.from = 1;
}

static void set_uuid(void)
{
	memcpy(question.ask.uuid, POOL, KEEPER_DIGITS);
}

static void set_upper(void)
{
	question.ask.uuid[31] = 'F';
}

static void set_nul(void)
{
	question.ask.uuid[31] = '\0';
}

static void set_op(void)
{
	question.ask.op = KEEPER_FREE + 1;
}

static void set_op_0(void)
{
	question.ask.op = 0;
}

static void set_op_huge(void)
{
	question.ask.op = UINT16_MAX;
}

static void set_id_0(void)
{
	question.ask.items[0].id = 0;
}

static void set_item_len(void)
{
	question.ask.items[0].len = 1;
}

static void set_version(void)
{
	question.ask.version = KEEPER_VERSION + 1;
}

static void set_nothing(void)
{
}

static const struct {
	const char *what;
	enum keeper_op op;
	const char *uuid;
	unsigned int n;
	void (*change)(void);
	size_t len; /* 0: what the question needs */
	int n_fds;
	int error;
} bad[] = {
	{ "one byte", KEEPER_HELLO, NULL, 0, set_nothing, 1, 0, EPROTO },
	{ "a version alone", KEEPER_HELLO, NULL, 0, set_nothing, 4, 0, EINVAL },
	{ "cut head", KEEPER_HELLO, NULL, 0, set_nothing, HEAD - 1, 0, EINVAL },
	{ "one byte more", KEEPER_HELLO, NULL, 0, set_nothing, HEAD + 1, 0,
	  EINVAL },
	{ "too long", KEEPER_PUT, POOL, 240, set_nothing, ROOM, 240, EINVAL },
	{ "cut items", KEEPER_DROP, POOL, 2, set_nothing, HEAD + ITEM, 0, EINVAL },
	{ "another version", KEEPER_HELLO, NULL, 0, set_version, 0, 1, EPROTO },
	{ "another version, cut", KEEPER_HELLO, NULL, 0, set_version, 4, 0,
	  EPROTO },
	{ "no op", KEEPER_HELLO, NULL, 0, set_op_0, 0, 0, EINVAL },
	{ "op behind the last", KEEPER_HELLO, NULL, 0, set_op, 0, 0, EINVAL },
	{ "op of all bits", KEEPER_HELLO, NULL, 0, set_op_huge, 0, 1, EINVAL },
	{ "hello with a uuid", KEEPER_HELLO, NULL, 0, set_uuid, 0, 0, EINVAL },
	{ "hello with items", KEEPER_HELLO, NULL, 2, set_nothing, 0, 0, EINVAL },
	{ "hello with flags", KEEPER_HELLO, NULL, 0, set_flags, 0, 0, EINVAL },
	{ "hello with a number", KEEPER_HELLO, NULL, 0, set_from, 0, 0, EINVAL },
	{ "hello with a rest", KEEPER_HELLO, NULL, 0, set_zero, 0, 0, EINVAL },
	{ "hello with a descriptor", KEEPER_HELLO, NULL, 0, set_nothing, 0, 1,
	  EINVAL },
	{ "claim of nothing", KEEPER_CLAIM, NULL, 0, set_nothing, 0, 0, EINVAL },
	{ "claim in capitals", KEEPER_CLAIM, POOL, 0, set_upper, 0, 0, EINVAL },
	{ "claim cut by a NUL", KEEPER_CLAIM, POOL, 0, set_nul, 0, 0, EINVAL },
	{ "claim with descriptors", KEEPER_CLAIM, OTHER, 0, set_nothing, 0, 253,
	  EINVAL },
	{ "table with a descriptor", KEEPER_TABLE, POOL, 0, set_nothing, 0, 1,
	  EINVAL },
	{ "no table", KEEPER_SET_TABLE, POOL, 0, set_nothing, 0, 0, EINVAL },
	{ "two tables", KEEPER_SET_TABLE, POOL, 0, set_nothing, 0, 2, EINVAL },
	{ "table and items", KEEPER_SET_TABLE, POOL, 1, set_nothing, 0, 1,
	  EINVAL },
	{ "put of nothing", KEEPER_PUT, POOL, 0, set_nothing, 0, 0, EINVAL },
	{ "put of descriptors alone", KEEPER_PUT, POOL, 0, set_nothing, 0, 1,
	  EINVAL },
	{ "put without them", KEEPER_PUT, POOL, 3, set_nothing, 0, 0, EINVAL },
	{ "put with fewer", KEEPER_PUT, POOL, 3, set_nothing, 0, 2, EINVAL },
	{ "put with more", KEEPER_PUT, POOL, 3, set_nothing, 0, 4, EINVAL },
	{ "put of more than may be", KEEPER_PUT, POOL, 241, set_nothing,
	  HEAD + 241 * ITEM, 241, EINVAL },
	{ "put of more than are there", KEEPER_PUT, POOL, 1, set_n, 0, 1, EINVAL },
	{ "put of very many", KEEPER_PUT, POOL, 1, set_n_huge, 0, 1, EINVAL },
	{ "put with other flags", KEEPER_PUT, POOL, 1, set_all_flags, 0, 1,
	  EINVAL },
	{ "put of id 0", KEEPER_PUT, POOL, 3, set_id_0, 0, 3, EINVAL },
	{ "put with a number", KEEPER_PUT, POOL, 3, set_from, 0, 3, EINVAL },
	{ "put to a stranger's", KEEPER_PUT, OTHER, 3, set_nothing, 0, 3, EPERM },
	{ "drop of nothing", KEEPER_DROP, POOL, 0, set_nothing, 0, 0, EINVAL },
	{ "drop with descriptors", KEEPER_DROP, POOL, 1, set_nothing, 0, 1,
	  EINVAL },
	{ "drop with flags", KEEPER_DROP, POOL, 1, set_flags, 0, 0, EINVAL },
	{ "drop of id 0", KEEPER_DROP, POOL, 1, set_id_0, 0, 0, EINVAL },
	{ "drop with a length", KEEPER_DROP, POOL, 1, set_item_len, 0, 0, EINVAL },
	{ "drop of what is not there", KEEPER_DROP, POOL, 1, set_nothing, 0, 0,
	  ENOENT },
	{ "each with items", KEEPER_EACH, POOL, 1, set_nothing, 0, 0, EINVAL },
	{ "two anchors", KEEPER_ANCHOR, POOL, 0, set_nothing, 0, 2, EINVAL },
	{ "pools of one", KEEPER_POOLS, NULL, 0, set_uuid, 0, 0, EINVAL },
	{ "free of nothing", KEEPER_FREE, NULL, 0, set_nothing, 0, 0, EINVAL },
	{ "free with a number", KEEPER_FREE, OTHER, 0, set_from, 0, 0, EINVAL },
};

/* Refused, forgotten, and the client goes on. */
START_TEST(bad_question_changes_nothing)
{
	int memory = memory_of(1), before = keeper_n_fds(), fds[253];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = memory;
	plan(bad[_i].op, bad[_i].uuid, bad[_i].n);
	bad[_i].change();
	ck_assert_int_eq(
		send_raw(sock, bad[_i].len ? bad[_i].len : HEAD + bad[_i].n * ITEM,
			 fds, (size_t)bad[_i].n_fds),
		0);
	ck_assert_msg(answer(sock) == -bad[_i].error, "%s", bad[_i].what);
	ck_assert_int_eq(keeper_n_fds(), before);
	ck_assert_int_eq(ask(KEEPER_PUT, POOL, 3, memory), 0);
	ck_assert_uint_eq(count_ids(keeper, 100), 3);
	ck_assert_uint_eq(pool_of(keeper, POOL).n_chunks, 3);
	close(memory);
}
END_TEST

START_TEST(question_within_a_put_ends_it)
{
	int memory = memory_of(1), before = keeper_n_fds();
	int fds[] = { memory, memory };

	plan(KEEPER_PUT, POOL, 2);
	question.ask.flags = KEEPER_MORE;
	ck_assert_int_eq(send_raw(sock, HEAD + 2 * ITEM, fds, 2), 0);
	ck_assert_int_eq(answer(sock), 0);
	/* nothing is there yet */
	ck_assert_uint_eq(count_ids(keeper, 100), 0);
	ck_assert_int_eq(keeper_n_fds(), before + 2);
	ck_assert_int_eq(ask(KEEPER_CLAIM, _i ? POOL : OTHER, 0, -1), -EINVAL);
	ck_assert_int_eq(keeper_n_fds(), before);
	ck_assert_uint_eq(count_ids(keeper, 100), 0);
	close(memory);
}
END_TEST

START_TEST(put_of_a_client_that_leaves_within_it_is_forgotten)
{
	int memory = memory_of(1), before = keeper_n_fds();
	int fds[] = { memory, memory };

	plan(KEEPER_PUT, POOL, 2);
	question.ask.flags = KEEPER_MORE;
	ck_assert_int_eq(send_raw(sock, HEAD + 2 * ITEM, fds, 2), 0);
	ck_assert_int_eq(answer(sock), 0);
	close(sock);
	support_wait_until(keeper_n_fds() == before - 1);
	sock = connect_raw();
	close(memory);
}
END_TEST

/* ---- clients that do not read ---------------------------------------------- */

START_TEST(client_that_asks_before_it_reads_is_disconnected)
{
	struct pollfd pfd = { .fd = sock };
	int n = 0;

	plan(KEEPER_EACH, POOL, 0);
	while (n < 100 && !send_raw(sock, HEAD, NULL, 0))
		n++;
	/* it would take more than that to fill the socket */
	ck_assert_int_eq(poll(&pfd, 1, SUPPORT_WAIT_MS), 1);
	ck_assert(pfd.revents & POLLHUP);
	/* its claim has ended, and others are served */
	ck_assert_int_eq(keeper_claim(keeper, POOL, NULL), 0);
	ck_assert_int_eq(put_ids(keeper, 1, 300), 0);
	ck_assert_uint_eq(count_ids(keeper, 1), 300);
}
END_TEST

/* One that has asked and never reads costs nobody else anything. */
START_TEST(client_that_stops_reading_holds_nobody_up)
{
	int others[20], memory = memory_of(1);

	ck_assert_int_eq(ask(KEEPER_PUT, POOL, 240, memory), 0);
	plan(KEEPER_EACH, POOL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		others[i] = connect_raw();
		/* the answer has 240 descriptors */
		ck_assert_int_eq(send_raw(others[i], HEAD, NULL, 0), 0);
	}
	ck_assert_uint_eq(count_ids(keeper, 100), 240);
	ck_assert_int_eq(ask(KEEPER_DROP, POOL, 240, -1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		close(others[i]);
	close(memory);
}
END_TEST

/* ---- any bytes ------------------------------------------------------------- */

static void set_some_bytes(uint64_t *random)
{
	static const char *const uuids[] = { NULL, POOL, OTHER };

	plan((enum keeper_op)support_random(random, KEEPER_FREE + 2),
	     uuids[support_random(random, 3)],
	     (unsigned int)support_random(random, 4));
	for (uint64_t k = support_random(random, 3); k; k--)
		question.bytes[support_random(random, HEAD + 3 * ITEM)] =
			(char)support_random(random, 256);
}

START_TEST(garbage_is_survived)
{
	uint64_t random = 1 + (uint64_t)_i;
	int fds[] = { memory_of(1), open("/dev/null", O_RDWR | O_CLOEXEC), sock,
		      memory_of(1), open("/", O_RDONLY | O_CLOEXEC) };

	for (int i = 0; i < 3000; i++) {
		size_t len = HEAD + ITEM * support_random(&random, 4);

		set_some_bytes(&random);
		if (!support_random(&random, 10))
			len = 1 + support_random(&random, ROOM);
		if (!send_raw(sock, len, fds, support_random(&random, 6)) &&
		    answer(sock) <= 0)
			continue;
		close(sock);
		sock = connect_raw();
		fds[2] = sock;
	}
	close(sock);
	/* what is kept is what is said to be kept */
	support_wait_until(keeper_claim(keeper, POOL, NULL) == 0);
	ck_assert_int_eq(keeper_claim(keeper, OTHER, NULL), 0);
	keeper_close(keeper);
	keeper = keeper_connect();
	for (int i = 0; i < 2; i++)
		keeper_free(keeper, i ? POOL : OTHER, NULL);
	/* 0-2, the lock, the socket, the client */
	support_wait_until(keeper_n_fds() == 6);
	sock = connect_raw();
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (i != 2)
			close(fds[i]);
}
END_TEST

Suite *keeper_wire_suite(void)
{
	Suite *s = suite_create("keeper_wire");
	TCase *questions = tcase_create("questions");
	TCase *slow = tcase_create("slow");
	TCase *garbage = tcase_create("garbage");

	tcase_add_checked_fixture(questions, setup, teardown);
	tcase_add_loop_test(questions, bad_question_changes_nothing, 0,
			    ARRAY_SIZE(bad));
	tcase_add_loop_test(questions, question_within_a_put_ends_it, 0, 2);
	tcase_add_test(questions,
		       put_of_a_client_that_leaves_within_it_is_forgotten);
	suite_add_tcase(s, questions);

	tcase_add_checked_fixture(slow, setup, teardown);
	tcase_add_test(slow, client_that_asks_before_it_reads_is_disconnected);
	tcase_add_test(slow, client_that_stops_reading_holds_nobody_up);
	suite_add_tcase(s, slow);

	tcase_add_checked_fixture(garbage, setup, teardown);
	tcase_add_loop_test(garbage, garbage_is_survived, 0, 4);
	suite_add_tcase(s, garbage);
	return s;
}
