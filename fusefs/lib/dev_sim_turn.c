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

/*
 * Sleep until something changed after @seen was read. A futex and not a
 * condition variable, since that one hides signals; with a timeout, since
 * without one a handler installed with SA_RESTART would not be noticed.
 */
static int wait_change(struct sim *s, uint32_t seen)
{
	const struct timespec hour = { .tv_sec = 3600 };

	if (syscall(SYS_futex, &s->change, FUTEX_WAIT_PRIVATE, seen, &hour,
		    NULL, 0) &&
	    errno == EINTR)
		return -EINTR;
	return 0;
}

static int wait_change_locked(struct sim *s) REQUIRES(s->lock);
static int wait_change_locked(struct sim *s)
{
	uint32_t seen = s->change;
	int ret;

	s->sleepers++;
	sim_drop(s);
	ret = wait_change(s, seen);
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
		wait_change_locked(s);
	s->turn = true;
}

void sim_turn_drop_locked(struct sim *s)
{
	s->turn = false;
	wake_locked(s);
}

void sim_lease_start_locked(struct sim *s, int pid, bool here)
{
	char path[32];
	FILE *file = NULL;

	s->lease_pid = pid;
	s->leased_here = here;
	memset(s->lease_comm, 0, sizeof(s->lease_comm));
	if (here) {
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
	s->lease_pid = 0;
	s->leased_here = false;
	wake_locked(s);
}

/* Is the slot kept from us by somebody else's lease? */
static bool is_leased_away_locked(struct sim *s, struct sim_die *die,
				  unsigned int flags) REQUIRES(s->lock);
static bool is_leased_away_locked(struct sim *s, struct sim_die *die,
				  unsigned int flags)
{
	if (!s->lease_pid || s->leased_here)
		return false;
	return s->active != die->id || (flags & (BS_LEASE | BS_FORCE_SBR));
}

int sim_turn_wait_locked(struct sim *s, struct sim_die *die, unsigned int flags)
{
	for (;;) {
		bool leased = is_leased_away_locked(s, die, flags);
		int ret;

		if (!leased && !s->turn)
			break;
		if (leased && (flags & BS_NOWAIT))
			return -EBUSY;
		/* a reset of what somebody leases is refused, not put off */
		if (leased && (flags & BS_FORCE_SBR) && s->active == die->id)
			return -EBUSY;
		s->waiters += leased;
		ret = wait_change_locked(s);
		s->waiters -= leased;
		if (ret)
			return ret;
	}
	s->turn = true;
	return 0;
}
