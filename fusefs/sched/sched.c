/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/sched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sched/priv.h"

void sched_wake(struct sched *s)
{
	uint64_t one = 1;

	/* can only fail when it would count past 2^64: it is awake then */
	if (write(s->event_fd, &one, sizeof(one)) < 0)
		return;
}

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
static void name_holder_locked(const struct sched *s, char *buf, size_t len)
	REQUIRES(s->lock)
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
		name_holder_locked(s, who, sizeof(who));
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

int sched_try(struct sched *s, struct sched_req *req)
{
	uint64_t now = now_ns();
	int ret = -EAGAIN;

	/* every die is always in, and none can be kept in or reset */
	if (!s->be->ops->has_slot)
		return sched_is_hold(req) || req->op == SCHED_RESET ? -EOPNOTSUPP
								    : 0;
	sched_take(&s->lock);
	if (s->is_stopping) {
		ret = -ENODEV;
	} else if (req->op == SCHED_SYNC) {
		if (s->policy.swapping_to >= 0) {
			ret = -EAGAIN;
		} else if (s->policy.active == req->die) {
			/* a drain waits for it like for a copy */
			policy_start(&s->policy, (unsigned int)req->die);
			ret = 0;
		} else {
			ret = SCHED_NOTHING;
		}
	} else if (req->op == SCHED_RELEASE) {
		ret = -EAGAIN;
	} else if (s->is_ending && sched_is_hold(req)) {
		ret = -ENODEV;
	} else if (req->gives_way && sched_blocks_locked(s, req->die)) {
		ret = -EXDEV;
	} else if (req->nowait && sched_blocks_locked(s, req->die)) {
		ret = -EBUSY;
		sched_note_locked(s, req, ret);
	} else if (policy_may_run(&s->policy, (unsigned int)req->die) &&
		   !s->suspect[req->die]) {
		if (req->op == SCHED_IO && !s->flushes[req->die]) {
			policy_run(&s->policy, (unsigned int)req->die, now);
			sched_note_client_locked(s, req);
			ret = 0;
		} else if (sched_is_hold(req) &&
			   !sched_must_flush_locked(s, req->die)) {
			sched_take_hold_locked(s, req);
			ret = 0;
		}
	}
	sched_leave(&s->lock);
	if (s->changed && (ret == -EBUSY || (!ret && req->op != SCHED_IO &&
					     req->op != SCHED_SYNC)))
		s->changed(s->arg);
	return ret;
}

/* A client that waits for one die will not ask the one that is in; others that
 * use it keep their slice. */
static void leave_active_locked(struct sched *s, const struct sched_req *req)
	REQUIRES(s->lock)
{
	int active = s->policy.active;

	if (req->pid && active >= 0 && active != req->die &&
	    s->client[active] == req->pid && !s->is_shared &&
	    !s->policy.dies[active].running)
		policy_leave(&s->policy, (unsigned int)active);
}

void sched_park(struct sched *s, struct sched_req *req)
{
	uint64_t now = now_ns();

	req->is_started = false;
	sched_take(&s->lock);
	if (s->is_stopping) {
		sched_leave(&s->lock);
		req->resume(req, -ENODEV);
		return;
	}
	req->deadline = sched_blocked_clock_locked(s, now) + req->wait_ns;
	if (req->op == SCHED_RELEASE || req->op == SCHED_SYNC) {
		list_add(&s->control, req);
	} else {
		list_add(&s->parked[req->die], req);
		policy_wait(&s->policy, (unsigned int)req->die, now, req->small);
		leave_active_locked(s, req);
		if (sched_is_hold(req))
			sched_hurry_locked(s, req->die, now);
	}
	if (atomic_load(&req->interrupted))
		atomic_store(&s->interrupts, true);
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_put(struct sched *s, unsigned int die)
{
	bool last;

	if (!s->be->ops->has_slot)
		return;
	sched_take(&s->lock);
	last = policy_done(&s->policy, die, now_ns());
	sched_leave(&s->lock);
	if (last)
		sched_wake(s);
}

void sched_interrupt(struct sched *s, struct sched_req *req)
{
	atomic_store(&req->interrupted, true);
	atomic_store(&s->interrupts, true);
	sched_wake(s);
}

void sched_suspect(struct sched *s, unsigned int die)
{
	if (!s->be->ops->has_slot)
		return;
	sched_take(&s->lock);
	s->suspect[die] = true;
	s->is_changed = true;
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_unpin(struct sched *s, unsigned int die)
{
	sched_take(&s->lock);
	if (s->hold_die == (int)die)
		sched_clear_holds_locked(s);
	sched_leave(&s->lock);
	sched_wake(s);
}

void sched_end_holds(struct sched *s)
{
	sched_take(&s->lock);
	s->is_ending = true;
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

void sched_set_slice(struct sched *s, uint32_t ms)
{
	sched_take(&s->lock);
	s->policy.slice_set = ms * NSEC_PER_MSEC;
	sched_leave(&s->lock);
}

uint32_t sched_slice_ms(struct sched *s)
{
	uint32_t ms;

	sched_take(&s->lock);
	ms = (uint32_t)(s->policy.slice_set / NSEC_PER_MSEC);
	sched_leave(&s->lock);
	return ms;
}

void sched_view(struct sched *s, unsigned int die, struct sched_view *view)
{
	view->hold = "none";
	view->holder[0] = '\0';
	sched_take(&s->lock);
	view->waiters =
		s->policy.dies[die].waiting - s->policy.dies[die].lazy_waiting;
	view->note_count = s->note_counts[die];
	memcpy(view->note, s->notes[die], SCHED_NOTE_LEN);
	if (s->hold_die == (int)die) {
		view->hold = s->is_pinned ? "pin" : "lease";
		name_holder_locked(s, view->holder, sizeof(view->holder));
	}
	sched_leave(&s->lock);
}

int sched_start(struct sched **out, struct backend *be,
		void (*changed)(void *arg), void *arg)
{
	struct sched *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	s->be = be;
	s->changed = changed;
	s->arg = arg;
	s->hold_die = -1;
	policy_init(&s->policy);
	pthread_mutex_init(&s->lock.mutex, NULL);
	pthread_cond_init(&s->job_wake, NULL);
	for (unsigned int i = 0; i < POLICY_MAX_DIES; i++)
		list_init(&s->parked[i]);
	list_init(&s->control);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0) {
		ret = -errno;
		goto out_free;
	}
	ret = -pthread_create(&s->slot_thread, NULL, sched_slot_thread, s);
	if (ret)
		goto out_close;
	ret = -pthread_create(&s->thread, NULL, sched_thread, s);
	if (ret)
		goto out_join;
	*out = s;
	return 0;

out_join:
	sched_take(&s->lock);
	s->is_stopping = true;
	pthread_cond_signal(&s->job_wake);
	sched_leave(&s->lock);
	pthread_join(s->slot_thread, NULL);
out_close:
	close(s->event_fd);
out_free:
	free(s);
	return ret;
}

int sched_stop(struct sched *s)
{
	struct timespec patience;

	sched_take(&s->lock);
	s->is_stopping = true;
	pthread_cond_signal(&s->job_wake);
	sched_leave(&s->lock);
	sched_wake(s);
	pthread_join(s->thread, NULL);

	/* A die that never returns from its reset would hold us for 75 s; the
	 * end of the process interrupts the call. */
	clock_gettime(CLOCK_REALTIME, &patience);
	patience.tv_sec += 2;
	return pthread_timedjoin_np(s->slot_thread, NULL, &patience) ? -EBUSY : 0;
}

void sched_free(struct sched *s)
{
	close(s->event_fd);
	pthread_cond_destroy(&s->job_wake);
	pthread_mutex_destroy(&s->lock.mutex);
	free(s);
}
