// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns and leases of the simulated slot. */
#include "lib/dev_sim_turn.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/dev_sim_tell.h"

#define HOUR_NS (3600 * NSEC_PER_SEC)

/*
 * Sleep until something changed after @seen was read. A futex and not a
 * condition variable, since that one hides signals; with a timeout, since
 * without one a handler installed with SA_RESTART would not be noticed.
 */
static int wait_change(struct sim *s, uint32_t seen, uint64_t most_ns)
{
	const struct timespec most = {
		.tv_sec = (time_t)(most_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(most_ns % NSEC_PER_SEC),
	};

	if (syscall(SYS_futex, &s->change, FUTEX_WAIT_PRIVATE, seen, &most,
		    NULL, 0) &&
	    errno == EINTR)
		return -EINTR;
	return 0;
}

static int wait_change_locked(struct sim *s, uint64_t most_ns) REQUIRES(s->lock);
static int wait_change_locked(struct sim *s, uint64_t most_ns)
{
	uint32_t seen = s->change;
	int ret;

	s->sleepers++;
	sim_drop(s);
	ret = wait_change(s, seen, most_ns);
	sim_take(s);
	s->sleepers--;
	return ret;
}

static void wake_locked(struct sim *s) REQUIRES(s->lock);
static void wake_locked(struct sim *s)
{
	s->change++;
	if (s->sleepers)
		syscall(SYS_futex, &s->change, FUTEX_WAKE_PRIVATE, INT_MAX,
			NULL, NULL, 0);
}

void sim_turn_take_locked(struct sim *s)
{
	while (s->turn)
		wait_change_locked(s, HOUR_NS);
	s->turn = true;
}

void sim_turn_drop_locked(struct sim *s)
{
	s->turn = false;
	wake_locked(s);
}

void sim_lease_start_locked(struct sim *s, int pid)
{
	char path[32];
	FILE *file = NULL;

	s->leased_here = pid == SIM_HERE;
	s->lease_pid = s->leased_here ? getpid() : pid;
	s->lease_die = s->active;
	memset(s->lease_comm, 0, sizeof(s->lease_comm));
	sim_event_locked(s);
	if (s->leased_here) {
		prctl(PR_GET_NAME, s->lease_comm);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(s->lease_comm, sizeof(s->lease_comm), file))
		s->lease_comm[strcspn(s->lease_comm, "\n")] = '\0';
	fclose(file);
}

void sim_lease_end_locked(struct sim *s)
{
	if (s->lease_pid)
		sim_event_locked(s);
	s->lease_pid = 0;
	s->leased_here = false;
	wake_locked(s);
}

void sim_lease_prune_locked(struct sim *s)
{
	if (s->lease_pid && s->lease_die != s->active)
		sim_lease_end_locked(s);
}

bool sim_is_leased_away_locked(struct sim *s, int pid)
{
	if (!s->lease_pid)
		return false;
	return pid == SIM_HERE ? !s->leased_here
			       : s->leased_here || s->lease_pid != pid;
}

int sim_turn_wait_locked(struct sim *s, int pid, uint64_t end_ns)
{
	bool leased;

	while ((leased = sim_is_leased_away_locked(s, pid)) || s->turn) {
		uint64_t now = now_ns();
		int ret;

		if (now >= end_ns)
			return -EBUSY;
		s->waiters += leased;
		ret = wait_change_locked(s, MIN(end_ns - now, HOUR_NS));
		s->waiters -= leased;
		if (ret)
			return ret;
	}
	s->turn = true;
	return 0;
}
