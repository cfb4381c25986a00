/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/sched.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sched/priv.h"

/* Not before a long request that waits already: they take turns. */
static bool may_run_long_locked(const struct sched *s,
				const struct sched_req *req) REQUIRES(s->lock)
{
	return !req->is_long || (!s->long_runs[req->die] && !s->longs[req->die]);
}

int sched_try(struct sched *s, struct sched_req *req)
{
	uint64_t now = now_ns();
	int ret = -EAGAIN;

	/* every die is always in, and none can be kept in or reset */
	if (!s->be->ops->has_slot) {
		if (sched_is_hold(req) || req->op == SCHED_RESET)
			return -EOPNOTSUPP;
		return req->ends_early && s->is_ending ? -ENODEV : 0;
	}
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
	} else if (s->is_ending && (sched_is_hold(req) || req->ends_early)) {
		ret = -ENODEV;
	} else if (req->gives_way && sched_blocks_locked(s, req->die)) {
		ret = -EXDEV;
	} else if (req->nowait && sched_blocks_locked(s, req->die)) {
		ret = -EBUSY;
		sched_note_locked(s, req, ret);
	} else if (policy_may_run(&s->policy, (unsigned int)req->die) &&
		   !s->suspect[req->die]) {
		if (req->op == SCHED_IO && !s->flushes[req->die] &&
		    may_run_long_locked(s, req)) {
			s->long_runs[req->die] |= req->is_long;
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
	req->parked_at = now;
	s->longs[req->die] += req->is_long;
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

static void put(struct sched *s, unsigned int die, bool is_long)
{
	bool must_wake;

	if (!s->be->ops->has_slot)
		return;
	sched_take(&s->lock);
	must_wake = policy_done(&s->policy, die, now_ns());
	if (is_long) {
		s->long_runs[die] = false;
		must_wake = must_wake || s->longs[die];
	}
	sched_leave(&s->lock);
	if (must_wake)
		sched_wake(s);
}

void sched_put(struct sched *s, unsigned int die)
{
	put(s, die, false);
}

void sched_put_long(struct sched *s, unsigned int die)
{
	put(s, die, true);
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
	view->waits = s->waits[die];
	view->wait_ns = s->wait_ns[die];
	view->note_count = s->note_counts[die];
	memcpy(view->note, s->notes[die], SCHED_NOTE_LEN);
	if (s->hold_die == (int)die) {
		view->hold = s->is_pinned ? "pin" : "lease";
		sched_name_holder_locked(s, view->holder, sizeof(view->holder));
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
