/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mem/tend.h"

#include <poll.h>
#include <unistd.h>

#include "base/util.h"
#include "mem/commit.h"
#include "mem/keep.h"

#define RETRY_MS 1000 /* between two attempts to start a keeper */

static bool is_usable(const struct mem_die *d)
{
	return !*d->why;
}

/* Milliseconds until something is to be done, -1: nothing is. */
static int patience(struct mem *m, uint64_t since)
{
	int ms = m->keeper_pid ? -1 : RETRY_MS;
	uint64_t end = since + COMMIT_SOON_MS * NSEC_PER_MSEC, now = now_ns();
	int left = now < end ? (int)((end - now) / NSEC_PER_MSEC) + 1 : 0;

	for (unsigned int die = 0; die < m->n_dies; die++) {
		struct mem_die *d = &m->dies[die];

		if (!is_usable(d) || !d->is_dirty)
			continue;
		if (d->grown >= COMMIT_GROWN_MAX)
			return 0;
		ms = ms < 0 ? left : MIN(ms, left);
	}
	return ms;
}

static void commit_all(struct mem *m)
{
	for (unsigned int die = 0; die < m->n_dies; die++)
		if (is_usable(&m->dies[die]) && m->dies[die].is_dirty)
			commit_now(&m->dies[die]);
}

static void sleep_off(struct mem *m, int ms)
{
	struct pollfd fds[2] = {
		{ .fd = m->wake, .events = POLLIN },
		{ .fd = keep_fd(m) },
	};
	uint64_t n;

	poll(fds, 2, ms);
	/* nothing to read is as good */
	if (read(m->wake, &n, sizeof(n)) < 0)
		n = 0;
	if (fds[1].fd < 0 ? !n : fds[1].revents != 0)
		keep_again(m);
}

static void *tend(void *arg)
{
	struct mem *m = arg;
	uint64_t since = now_ns();

	while (!m->is_stopping) {
		int ms = patience(m, since);

		if (ms) {
			sleep_off(m, ms);
			continue;
		}
		commit_all(m);
		since = now_ns();
	}
	return NULL;
}

int tend_start(struct mem *m)
{
	int ret;

	ret = -pthread_create(&m->tender, NULL, tend, m);
	m->is_tended = !ret;
	return ret;
}

void tend_stop(struct mem *m)
{
	m->is_stopping = true;
	commit_wake(m);
	if (m->is_tended)
		pthread_join(m->tender, NULL);
}
