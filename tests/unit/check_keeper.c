// SPDX-License-Identifier: GPL-2.0-or-later
/* What the keeper keeps, for whom, and how long: the program itself. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper_fixture.h"
#include "suites.h"
#include "support.h"

#define N_CLIENTS 64 /* SERVE_MAX_CLIENTS */

static void claim(void)
{
	ck_assert_int_eq(keeper_claim(keeper, POOL, NULL), 0);
}

/* A child that does it and says so by its exit, or stays until it is killed. */
static pid_t in_child(int (*work)(struct keeper *k), bool stays)
{
	char ready = 0;
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct keeper *k = keeper_connect();
		int ret = work(k);

		if (ret || write(fds[1], &ready, 1) != 1)
			_exit(1);
		while (stays)
			pause();
		_exit(0);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &ready, 1), 1);
	close(fds[0]);
	return pid;
}

static void kill_child(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- start ----------------------------------------------------------------- */

START_TEST(keeper_is_detached_and_has_nothing_of_ours)
{
	char name[PATH_MAX], target[PATH_MAX] = "";
	pid_t pid = keeper_pid(keeper);
	struct dirent *entry;
	DIR *fds;

	snprintf(name, sizeof(name), "/proc/%d/cwd", (int)pid);
	ck_assert_int_eq(readlink(name, target, sizeof(target)), 1);
	ck_assert_str_eq(target, "/");
	ck_assert_int_eq(getsid(pid), pid);
	snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
	fds = opendir(name);
	ck_assert_ptr_nonnull(fds);
	while ((entry = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, target,
				       sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (atoi(entry->d_name) <= STDERR_FILENO)
			ck_assert_str_eq(target, "/dev/null");
		else
			ck_assert(!strncmp(target, "socket:", 7) ||
				  strstr(target, "/s.lock"));
	}
	closedir(fds);
}
END_TEST

START_TEST(open_without_leave_to_start_is_refused)
{
	struct keeper *k;

	keeper_end(SIGTERM);
	ck_assert_int_eq(keeper_open(&k, keeper_path, false, keeper_why,
				     sizeof(keeper_why)),
			 -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(keeper_why, keeper_path));
}
END_TEST

START_TEST(open_where_no_keeper_can_be_says_why)
{
	struct keeper *k;

	ck_assert_int_eq(keeper_open(&k, "/proc/none/s", true, keeper_why,
				     sizeof(keeper_why)),
			 -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(keeper_why, "/proc/none/s: No such file"));
}
END_TEST

/* Pids that eight clients see that start one at the same moment. */
START_TEST(starts_at_once_end_with_one_keeper)
{
	enum { N = 8 };
	pid_t pid, seen[N], children[N];
	struct keeper *k;
	int go[2], out[2];
	char c;

	keeper_end(_i % 2 ? SIGTERM : SIGKILL);
	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(pipe(out), 0);
	for (int i = 0; i < N; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		close(go[1]);
		if (read(go[0], &c, 1) ||
		    keeper_open(&k, keeper_path, true, keeper_why,
				sizeof(keeper_why)))
			_exit(1);
		pid = keeper_pid(k);
		_exit(write(out[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < N; i++) {
		int status;

		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert_int_eq(status, 0);
		ck_assert_int_eq(read(out[0], &seen[i], sizeof(pid)),
				 sizeof(pid));
		ck_assert_int_eq(seen[i], seen[0]);
	}
	close(out[0]);
	close(out[1]);
	keeper_close(keeper);
	keeper = keeper_connect();
	ck_assert_int_eq(keeper_pid(keeper), seen[0]);
}
END_TEST

/* ---- whose it is ----------------------------------------------------------- */

static int claim_pool(struct keeper *k)
{
	return keeper_claim(k, POOL, NULL);
}

START_TEST(claim_of_a_claimed_pool_tells_the_holder)
{
	pid_t pid = in_child(claim_pool, true), holder = 0;

	ck_assert_int_eq(keeper_claim(keeper, POOL, &holder), -EBUSY);
	ck_assert_int_eq(holder, pid);
	ck_assert_int_eq(keeper_claim(keeper, OTHER, NULL), 0);
	kill_child(pid);
}
END_TEST

/* At once, though the keeper may see the claim before it sees the death. */
START_TEST(claim_ends_with_its_process)
{
	pid_t pid = in_child(claim_pool, true);

	kill_child(pid);
	claim();
	claim();
}
END_TEST

START_TEST(claim_ends_with_its_connection)
{
	struct keeper *k = keeper_connect();

	ck_assert_int_eq(claim_pool(k), 0);
	ck_assert_int_eq(claim_pool(keeper), -EBUSY);
	keeper_close(k);
	claim();
}
END_TEST

START_TEST(only_the_holder_changes_a_pool)
{
	struct keeper *k = keeper_connect();
	const uint64_t id = 1;
	int fd = memory_of(1), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 1), 0);
	ck_assert_int_eq(put_ids(k, 2, 1), -EPERM);
	ck_assert_int_eq(put_ids(k, 2, 1000), -EPERM);
	ck_assert_int_eq(keeper_drop(k, POOL, &id, 1), -EPERM);
	ck_assert_int_eq(keeper_set_table(k, POOL, fd), -EPERM);
	ck_assert_int_eq(keeper_anchor(k, POOL, null), -EPERM);
	ck_assert_int_eq(keeper_set_table(k, OTHER, fd), -EPERM);
	ck_assert_uint_eq(count_ids(k, 1), 1);
	ck_assert(!pool_of(k, POOL).has_table);
	keeper_close(k);
	close(fd);
	close(null);
}
END_TEST

START_TEST(other_users_are_strangers)
{
	struct keeper *k;
	int status;
	pid_t pid;

	if (geteuid())
		return;
	/* even where the file system lets them */
	ck_assert_int_eq(chmod(keeper_path, 0777), 0);
	pid = fork();
	if (!pid) {
		char dir[PATH_MAX];

		snprintf(dir, sizeof(dir), "%s", keeper_path);
		*strrchr(dir, '/') = '\0';
		if (chmod(dir, 0777) || setuid(65534))
			_exit(1);
		_exit(keeper_open(&k, keeper_path, false, keeper_why,
				  sizeof(keeper_why)) == -EPIPE
			      ? 0
			      : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	claim();
}
END_TEST

START_TEST(clients_beyond_the_limit_are_turned_away)
{
	struct keeper *k[N_CLIENTS], *one_more;

	for (int i = 0; i < N_CLIENTS - 1; i++)
		k[i] = keeper_connect();
	ck_assert_int_eq(keeper_open(&one_more, keeper_path, false, keeper_why,
				     sizeof(keeper_why)),
			 -EPIPE);
	claim();
	for (int i = 0; i < N_CLIENTS - 1; i++)
		keeper_close(k[i]);
	k[0] = keeper_connect();
	keeper_close(k[0]);
}
END_TEST

/* ---- what is kept ---------------------------------------------------------- */

static int keep_all_kinds(struct keeper *k)
{
	int table = memory_of(77), null = open("/dev/null", O_RDWR);
	int ret = keeper_claim(k, POOL, NULL);

	ret = ret ? ret : put_ids(k, 1, 500);
	ret = ret ? ret : put_ids(k, 501, 20);
	ret = ret ? ret : keeper_set_table(k, POOL, table);
	return ret ? ret : keeper_anchor(k, POOL, null);
}

START_TEST(memory_outlives_the_kill_of_its_client)
{
	struct keeper_pool p;
	int fd;

	kill_child(in_child(keep_all_kinds, true));
	claim();
	ck_assert_uint_eq(count_ids(keeper, 1), 520);
	ck_assert_int_eq(keeper_table(keeper, POOL, &fd), 0);
	ck_assert_uint_eq(memory_number(fd), 77);
	p = pool_of(keeper, POOL);
	ck_assert_uint_eq(p.n_chunks, 520);
	ck_assert_uint_eq(p.n_bytes, 520 * 2 * MIB);
	ck_assert(p.has_table && p.has_anchor);
	ck_assert_int_eq(p.holder, getpid());
}
END_TEST

START_TEST(thousands_of_chunks_are_kept_by_id)
{
	uint64_t ids[1500];

	claim();
	/* the later ones first, then those before and between them */
	ck_assert_int_eq(put_ids(keeper, 2001, 1000), 0);
	ck_assert_int_eq(put_ids(keeper, 1, 500), 0);
	ck_assert_int_eq(put_ids(keeper, 501, 1500), 0);
	ck_assert_int_ge(keeper_n_fds(), 3000);
	ck_assert_uint_eq(count_ids(keeper, 1), 3000);
	for (int i = 0; i < 1500; i++)
		ids[i] = 1500 - (uint64_t)i;
	ck_assert_int_eq(keeper_drop(keeper, POOL, ids, 1500), 0);
	ck_assert_uint_eq(count_ids(keeper, 1501), 1500);
	ck_assert_int_lt(keeper_n_fds(), 1600);
}
END_TEST

START_TEST(put_of_a_known_id_keeps_nothing)
{
	int fd = memory_of(1), before;
	const struct keeper_chunk twice[] = { { 7, fd, 0 }, { 7, fd, 0 } };

	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 10), 0);
	before = keeper_n_fds();
	ck_assert_int_eq(put_ids(keeper, 10, 3), -EEXIST);
	ck_assert_int_eq(keeper_put(keeper, POOL, twice, 2), -EEXIST);
	/* also where only the last of three parts shows it */
	ck_assert_int_eq(keeper_drop(keeper, POOL, &(uint64_t){ 1 }, 1), 0);
	ck_assert_int_eq(put_ids(keeper, 599, 1), 0);
	ck_assert_int_eq(put_ids(keeper, 11, 600), -EEXIST);
	ck_assert_int_eq(keeper_n_fds(), before);
	ck_assert_int_eq(keeper_drop(keeper, POOL, &(uint64_t){ 599 }, 1), 0);
	ck_assert_uint_eq(count_ids(keeper, 2), 9);
	close(fd);
}
END_TEST

START_TEST(put_that_fails_between_its_parts_keeps_nothing)
{
	struct keeper_chunk chunks[300];
	int fd = memory_of(1), before;

	claim();
	before = keeper_n_fds();
	for (unsigned int i = 0; i < ARRAY_SIZE(chunks); i++)
		chunks[i] = (struct keeper_chunk){ 1 + i, fd, 0 };
	chunks[290].fd = -1;
	ck_assert_int_eq(keeper_put(keeper, POOL, chunks, 300), -EINVAL);
	ck_assert_int_eq(keeper_n_fds(), before);
	/* the connection goes on, and no part is left over */
	ck_assert_int_eq(put_ids(keeper, 1, 3), 0);
	ck_assert_uint_eq(count_ids(keeper, 1), 3);
	close(fd);
}
END_TEST

START_TEST(drop_of_an_unknown_id_drops_nothing)
{
	const uint64_t unknown[] = { 1, 2, 9 }, twice[] = { 2, 2 };

	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 5), 0);
	ck_assert_int_eq(keeper_drop(keeper, POOL, unknown, 3), -ENOENT);
	ck_assert_int_eq(keeper_drop(keeper, POOL, twice, 2), -ENOENT);
	ck_assert_uint_eq(count_ids(keeper, 1), 5);
}
END_TEST

START_TEST(descriptors_beyond_the_limit_are_refused)
{
	int before;

	claim();
	before = keeper_n_fds();
	ck_assert_int_eq(put_ids(keeper, 1, 900), -ENFILE);
	ck_assert_int_eq(keeper_n_fds(), before);
	ck_assert_uint_eq(count_ids(keeper, 1), 0);
	ck_assert_int_eq(put_ids(keeper, 1, 500), 0);
	ck_assert_int_eq(put_ids(keeper, 501, 300), -ENFILE);
	ck_assert_int_eq(keeper_n_fds(), before + 500);
	ck_assert_uint_eq(count_ids(keeper, 1), 500);
	/* who looks is let in all the same */
	keeper_close(keeper_connect());
}
END_TEST

START_TEST(table_is_replaced)
{
	int one = memory_of(1), two = memory_of(2), fd, before;

	claim();
	ck_assert_int_eq(keeper_table(keeper, POOL, &fd), -ENOENT);
	ck_assert_int_eq(keeper_set_table(keeper, POOL, one), 0);
	before = keeper_n_fds();
	ck_assert_int_eq(keeper_set_table(keeper, POOL, two), 0);
	ck_assert_int_eq(keeper_table(keeper, POOL, &fd), 0);
	ck_assert_uint_eq(memory_number(fd), 2);
	ck_assert_int_eq(keeper_n_fds(), before);
	close(one);
	close(two);
}
END_TEST

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int open_pipe(void)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	close(fds[1]);
	return fds[0];
}

static int open_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int open_folder(void)
{
	return open("/", O_RDONLY | O_CLOEXEC);
}

static int open_fuse(void)
{
	return open("/dev/fuse", O_RDWR | O_CLOEXEC);
}

static int (*const strangers[])(void) = { open_socket, open_pipe, open_file,
					  open_folder, open_fuse };

/* What could make its close wait, or hold another mount. */
START_TEST(descriptors_of_other_kinds_are_refused)
{
	int fd = strangers[_i](), memory = memory_of(1), before;
	const struct keeper_chunk chunks[] = { { 1, memory, 0 }, { 2, fd, 0 } };

	if (fd < 0)
		return;
	claim();
	before = keeper_n_fds();
	ck_assert_int_eq(keeper_put(keeper, POOL, chunks, 2), -EINVAL);
	ck_assert_int_eq(keeper_set_table(keeper, POOL, fd), -EINVAL);
	ck_assert_int_eq(keeper_anchor(keeper, POOL, fd), -EINVAL);
	ck_assert_int_eq(keeper_anchor(keeper, POOL, memory), -EINVAL);
	ck_assert_int_eq(keeper_n_fds(), before);
	ck_assert_uint_eq(count_ids(keeper, 1), 0);
	close(fd);
	close(memory);
}
END_TEST

START_TEST(anchor_goes_with_the_last_of_chunks_and_claim)
{
	struct keeper *k = keeper_connect();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), table = memory_of(1);

	ck_assert_int_eq(claim_pool(k), 0);
	ck_assert_int_eq(keeper_anchor(k, POOL, null), 0);
	ck_assert_int_eq(keeper_set_table(k, POOL, table), 0);
	ck_assert_int_eq(put_ids(k, 1, 1), 0);
	keeper_close(k);
	ck_assert(pool_of(keeper, POOL).has_anchor);
	claim();
	ck_assert_int_eq(keeper_drop(keeper, POOL, &(uint64_t){ 1 }, 1), 0);
	ck_assert(pool_of(keeper, POOL).has_anchor);
	k = keeper;
	keeper = keeper_connect();
	keeper_close(k);
	ck_assert(!pool_of(keeper, POOL).has_anchor);
	ck_assert(pool_of(keeper, POOL).has_table);
	close(null);
	close(table);
}
END_TEST

START_TEST(pool_without_anything_is_gone)
{
	struct keeper *k = keeper_connect();

	ck_assert_int_eq(claim_pool(k), 0);
	ck_assert_str_eq(pool_of(keeper, POOL).uuid, POOL);
	keeper_close(k);
	ck_assert_str_eq(pool_of(keeper, POOL).uuid, "");
}
END_TEST

START_TEST(free_is_refused_while_claimed)
{
	pid_t pid = in_child(keep_all_kinds, true), holder = 0;
	int full = keeper_n_fds();

	ck_assert_int_eq(keeper_free(keeper, POOL, &holder), -EBUSY);
	ck_assert_int_eq(holder, pid);
	kill_child(pid);
	ck_assert_int_eq(keeper_free(keeper, OTHER, NULL), -ENOENT);
	ck_assert_int_eq(keeper_free(keeper, POOL, NULL), 0);
	ck_assert_str_eq(pool_of(keeper, POOL).uuid, "");
	/* 520 chunks, a table, an anchor, the client */
	ck_assert_int_eq(keeper_n_fds(), full - 523);
}
END_TEST

static int stop_each(void *arg, uint64_t id, int fd)
{
	int *left = arg;

	(void)id;
	close(fd);
	return --*left ? 0 : 42;
}

START_TEST(each_ends_where_it_is_told_to_and_leaks_nothing)
{
	int left = 300, before;

	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 600), 0);
	before = support_n_entries("/proc/self/fd");
	ck_assert_int_eq(keeper_each(keeper, POOL, stop_each, &left), 42);
	ck_assert_int_eq(support_n_entries("/proc/self/fd"), before);
}
END_TEST

static const char *const no_uuids[] = {
	"",
	"00112233445566778899aabbccddeef",
	"00112233445566778899aabbccddeeff0",
	"00112233445566778899aabbccddeefg",
	"00112233445566778899AABBCCDDEEFF",
	"0011223-445566778899aabbccddeeff",
};

START_TEST(what_is_no_uuid_is_refused)
{
	ck_assert_int_eq(keeper_claim(keeper, no_uuids[_i], NULL), -EINVAL);
	ck_assert_int_eq(keeper_free(keeper, no_uuids[_i], NULL), -EINVAL);
}
END_TEST

START_TEST(pools_beyond_the_limit_are_refused)
{
	char uuid[KEEPER_UUID_LEN];

	for (int i = 0; i < 65; i++) {
		snprintf(uuid, sizeof(uuid), "%032x", i);
		ck_assert_int_eq(keeper_claim(keeper, uuid, NULL),
				 i < 64 ? 0 : -ENOSPC);
	}
}
END_TEST

/* ---- its end --------------------------------------------------------------- */

START_TEST(death_of_the_keeper_is_seen)
{
	struct pollfd pfd = { .fd = keeper_fd(keeper) };
	pid_t old = keeper_pid(keeper);

	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 3), 0);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
	keeper_end(SIGKILL);
	ck_assert_int_eq(poll(&pfd, 1, SUPPORT_WAIT_MS), 1);
	ck_assert(pfd.revents & POLLHUP);
	ck_assert_int_eq(put_ids(keeper, 4, 1), -EPIPE);
	ck_assert_int_eq(keeper_claim(keeper, POOL, NULL), -EPIPE);
	/* and another one begins with nothing, in spite of what is left there */
	keeper_close(keeper);
	ck_assert_int_eq(keeper_open(&keeper, keeper_path, true, keeper_why,
				     sizeof(keeper_why)),
			 0);
	ck_assert_int_ne(keeper_pid(keeper), old);
	ck_assert_uint_eq(count_ids(keeper, 1), 0);
}
END_TEST

START_TEST(end_by_signal_takes_its_name_away)
{
	claim();
	ck_assert_int_eq(put_ids(keeper, 1, 3), 0);
	keeper_end(_i ? SIGTERM : SIGINT);
	ck_assert_int_eq(access(keeper_path, F_OK), -1);
}
END_TEST

START_TEST(other_signals_do_not_end_it)
{
	claim();
	ck_assert_int_eq(kill(keeper_pid(keeper), SIGHUP), 0);
	ck_assert_int_eq(kill(keeper_pid(keeper), SIGPIPE), 0);
	ck_assert_int_eq(put_ids(keeper, 1, 3), 0);
	ck_assert_uint_eq(count_ids(keeper, 1), 3);
}
END_TEST

Suite *keeper_suite(void)
{
	Suite *s = suite_create("keeper");
	TCase *start = tcase_create("start");
	TCase *claims = tcase_create("claims");
	TCase *kept = tcase_create("kept");
	TCase *limited = tcase_create("limited");
	TCase *end = tcase_create("end");

	tcase_add_checked_fixture(start, keeper_setup, keeper_teardown);
	tcase_add_test(start, keeper_is_detached_and_has_nothing_of_ours);
	tcase_add_test(start, open_without_leave_to_start_is_refused);
	tcase_add_test(start, open_where_no_keeper_can_be_says_why);
	tcase_add_loop_test(start, starts_at_once_end_with_one_keeper, 0, 10);
	suite_add_tcase(s, start);

	tcase_add_checked_fixture(claims, keeper_setup, keeper_teardown);
	tcase_add_test(claims, claim_of_a_claimed_pool_tells_the_holder);
	tcase_add_loop_test(claims, claim_ends_with_its_process, 0, 20);
	tcase_add_test(claims, claim_ends_with_its_connection);
	tcase_add_test(claims, only_the_holder_changes_a_pool);
	tcase_add_test(claims, other_users_are_strangers);
	tcase_add_test(claims, clients_beyond_the_limit_are_turned_away);
	suite_add_tcase(s, claims);

	tcase_add_checked_fixture(kept, keeper_setup, keeper_teardown);
	tcase_add_test(kept, memory_outlives_the_kill_of_its_client);
	tcase_add_test(kept, thousands_of_chunks_are_kept_by_id);
	tcase_add_test(kept, put_of_a_known_id_keeps_nothing);
	tcase_add_test(kept, put_that_fails_between_its_parts_keeps_nothing);
	tcase_add_test(kept, drop_of_an_unknown_id_drops_nothing);
	tcase_add_test(kept, table_is_replaced);
	tcase_add_loop_test(kept, descriptors_of_other_kinds_are_refused, 0,
			    ARRAY_SIZE(strangers));
	tcase_add_test(kept, anchor_goes_with_the_last_of_chunks_and_claim);
	tcase_add_test(kept, pool_without_anything_is_gone);
	tcase_add_test(kept, free_is_refused_while_claimed);
	tcase_add_test(kept, each_ends_where_it_is_told_to_and_leaks_nothing);
	tcase_add_loop_test(kept, what_is_no_uuid_is_refused, 0,
			    ARRAY_SIZE(no_uuids));
	tcase_add_test(kept, pools_beyond_the_limit_are_refused);
	suite_add_tcase(s, kept);

	tcase_add_checked_fixture(limited, keeper_setup_limited, keeper_teardown);
	tcase_add_test(limited, descriptors_beyond_the_limit_are_refused);
	suite_add_tcase(s, limited);

	tcase_add_checked_fixture(end, keeper_setup, keeper_teardown);
	tcase_add_test(end, death_of_the_keeper_is_seen);
	tcase_add_loop_test(end, end_by_signal_takes_its_name_away, 0, 2);
	tcase_add_test(end, other_signals_do_not_end_it);
	suite_add_tcase(s, end);
	return s;
}
