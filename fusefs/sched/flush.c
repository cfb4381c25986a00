/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was written behind: its turn, who waits for it, and which client a die
 * has.
 */
#include "sched/sched.h"

#include <errno.h>

#include "base/util.h"
#include "sched/priv.h"

/* An IO request of the active die starts. */
void sched_note_client_locked(struct sched *s, const struct sched_req *req)
{
	if (s->turn_client && s->turn_client != req->pid)
		s->is_shared = true;
	s->turn_client = req->pid;
	s->client[req->die] = req->pid;
}

bool sched_alternates(struct sched *s, pid_t pid, unsigned int die)
{
	bool found = false;

	sched_take(&s->lock);
	for (unsigned int other = 0; pid && other < s->be->n_dies; other++)
		found = found || (other != die && s->client[other] == pid);
	sched_leave(&s->lock);
	return found;
}

/* Whether a hold of @die must wait: it would keep out what was written behind,
 * for which a close may wait, also that of whoever takes the hold. */
bool sched_must_flush_locked(const struct sched *s, int die)
{
	for (int other = 0; other < (int)s->be->n_dies; other++)
		if (other != die && s->flushes[other] && !s->is_busy[other])
			return true;
	return false;
}

static bool hold_waits_locked(const struct sched *s) REQUIRES(s->lock)
{
	for (unsigned int die = 0; die < s->be->n_dies; die++)
		for (const struct sched_req *r = s->parked[die].head; r;
		     r = r->next)
			if (sched_is_hold(r))
				return true;
	return false;
}

/* A hold of @die, the active one or not, waits for all flushes: now. */
void sched_hurry_locked(struct sched *s, int die, uint64_t now)
{
	if (!hold_waits_locked(s) || !sched_must_flush_locked(s, die))
		return;
	for (unsigned int other = 0; other < s->be->n_dies; other++)
		if (s->flushes[other] && !s->is_busy[other])
			policy_put_off(&s->policy, other, now);
	s->policy.slice_end = MIN(s->policy.slice_end, now);
}

/* Why a flush of @die may not run yet, 0 if it may. */
int sched_flush_error_locked(const struct sched *s, int die)
{
	return s->flush_error[die] && now_ns() < s->flush_at[die]
		       ? s->flush_error[die]
		       : 0;
}

static void put_off_locked(struct sched *s, unsigned int die, int error)
	REQUIRES(s->lock)
{
	s->is_busy[die] = true;
	s->flush_error[die] = error;
	s->flush_at[die] = now_ns() + SCHED_BUSY_NS;
	policy_put_off(&s->policy, die, s->flush_at[die]);
}

bool sched_flush(struct sched *s, struct sched_req *req,
		 enum sched_flush_turn turn, int error)
{
	bool may, is_stopping, again = turn != SCHED_FLUSH_FIRST;
	unsigned int die = (unsigned int)req->die;

	sched_take(&s->lock);
	is_stopping = s->is_stopping;
	may = again || (s->policy.active != req->die &&
			s->policy.swapping_to != req->die &&
			!sched_blocks_locked(s, req->die) &&
			!hold_waits_locked(s) && !is_stopping);
	if (may && !is_stopping) {
		s->flushes[die]++;
		list_add(&s->parked[die], req);
		policy_wait_lazily(&s->policy, die, now_ns());
		/* it has waited long enough */
		if (turn == SCHED_FLUSH_AGAIN)
			policy_put_off(&s->policy, die, 0);
		else if (turn == SCHED_FLUSH_LATER)
			put_off_locked(s, die, error);
	}
	sched_leave(&s->lock);
	if (!may)
		return false;
	if (is_stopping)
		req->resume(req, -ENODEV);
	else
		sched_wake(s);
	return true;
}

void sched_hurry(struct sched *s, unsigned int die)
{
	sched_take(&s->lock);
	policy_put_off(&s->policy, die, 0);
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_flushed(struct sched *s, unsigned int die)
{
	sched_take(&s->lock);
	if (!--s->flushes[die])
		s->flush_ended = true;
	policy_done(&s->policy, die, now_ns());
	sched_leave(&s->lock);
	sched_wake(s);
}

bool sched_is_kept_out(struct sched *s, unsigned int die)
{
	bool blocks;

	sched_take(&s->lock);
	blocks = sched_blocks_locked(s, (int)die);
	sched_leave(&s->lock);
	return blocks;
}
