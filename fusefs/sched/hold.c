/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps a die in the slot and others out of it: pins, leases, other
 * processes; the clock of those who wait for their end, and what status says
 * of them.
 */
#include "sched/sched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/trace.h"
#include "sched/priv.h"

/* Time blocked by holds so far: the clock of the wait= timeouts. */
uint64_t sched_blocked_clock_locked(const struct sched *s, uint64_t now)
{
	/* a hold may have begun after the caller looked at its watch */
	bool runs = s->blocked_since && now > s->blocked_since;

	return s->blocked_ns + (runs ? now - s->blocked_since : 0);
}

/* Starts or stops that clock after a change of the holds. */
void sched_clock_locked(struct sched *s, uint64_t now)
{
	bool blocks = s->hold_die >= 0 || s->foreign;

	s->blocked_ns = sched_blocked_clock_locked(s, now);
	s->blocked_since = blocks ? now : 0;
	s->policy.held = s->hold_die >= 0;
	s->policy.only = s->hold_die;
}

/* Whether a hold of another die, or another process, keeps @die out. */
bool sched_blocks_locked(const struct sched *s, int die)
{
	return s->foreign || (s->hold_die >= 0 && s->hold_die != die);
}

/* "PID COMM" of the oldest right to keep @s->hold_die in. */
void sched_name_holder_locked(const struct sched *s, char *buf, size_t len)
{
	pid_t pid = s->is_pinned ? s->pin_pid : s->leases->pid;
	const char *comm = s->is_pinned ? s->pin_comm : s->leases->comm;

	snprintf(buf, len, "%d %.15s", (int)pid, comm);
}

/* errno cannot say who was in the way: status does. */
void sched_note_locked(struct sched *s, const struct sched_req *req, int error)
{
	char when[32], who[SCHED_COMM_LEN + 16];
	char why[96] = "another process leases the slot";
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%F %T", localtime_r(&now, &tm));
	if (s->hold_die >= 0) {
		sched_name_holder_locked(s, who, sizeof(who));
		snprintf(why, sizeof(why), "a %s of %s keeps die %d in",
			 s->is_pinned ? "pin" : "lease", who, s->hold_die);
	}
	snprintf(s->notes[req->die], SCHED_NOTE_LEN, "%s die %d: %s: %s", when,
		 req->die,
		 error == -EBUSY ? "refused without waiting" : "gave up waiting",
		 why);
	s->note_counts[req->die]++;
	s->is_changed = true;
}

void sched_clear_holds_locked(struct sched *s)
{
	if (s->hold_die < 0)
		return;
	trace_add(&(struct trace_span){ .kind = TRACE_HOLD,
					.die = (unsigned int)s->hold_die,
					.pid = s->is_pinned ? s->pin_pid : 0,
					.start = s->held_at,
					.end = now_ns() });
	for (struct sched_hold *h = s->leases; h; h = h->next)
		h->die = -1;
	s->leases = NULL;
	s->is_pinned = false;
	s->hold_die = -1;
	s->is_changed = true;
	sched_clock_locked(s, now_ns());
}

/* The die of a PIN or LEASE request is in: from now on it stays in. */
void sched_take_hold_locked(struct sched *s, struct sched_req *req)
{
	if (s->hold_die < 0)
		s->held_at = now_ns();
	s->hold_die = req->die;
	if (req->op == SCHED_PIN) {
		s->is_pinned = true;
		s->pin_pid = req->pid;
		memcpy(s->pin_comm, req->comm, sizeof(s->pin_comm));
	} else if (req->hold->die < 0) {
		req->hold->die = req->die;
		req->hold->pid = req->pid;
		memcpy(req->hold->comm, req->comm, sizeof(req->hold->comm));
		req->hold->next = s->leases;
		s->leases = req->hold;
	}
	s->is_changed = true;
	sched_clock_locked(s, now_ns());
}

void sched_unpin(struct sched *s, unsigned int die)
{
	sched_take(&s->lock);
	if (s->hold_die == (int)die)
		sched_clear_holds_locked(s);
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_end_holds(struct sched *s, uint64_t patience_ns)
{
	sched_take(&s->lock);
	s->is_ending = true;
	s->end_at = now_ns() + patience_ns;
	sched_clear_holds_locked(s);
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_drop(struct sched *s, struct sched_hold *hold)
{
	bool dropped = false;

	sched_take(&s->lock);
	for (struct sched_hold **p = &s->leases; *p; p = &(*p)->next) {
		if (*p != hold)
			continue;
		*p = hold->next;
		hold->die = -1;
		dropped = true;
		break;
	}
	if (dropped && !s->leases && !s->is_pinned)
		sched_clear_holds_locked(s);
	else if (dropped)
		s->is_changed = true;
	sched_leave(&s->lock);
	if (dropped)
		sched_wake(s);
}
