/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's thread: decides, answers parked requests.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/trace.h"
#include "sched/priv.h"

/* Whether @req is to be taken off its list now, and with which result. */
typedef bool (*sift_fn)(struct sched *s, struct sched_req *req, void *arg,
			int *result);

static void unwait_flush_locked(struct sched *s, const struct sched_req *req)
	REQUIRES(s->lock)
{
	policy_unwait_lazily(&s->policy, (unsigned int)req->die);
	if (req->result)
		s->flushes[req->die]--;
}

static void unwait_locked(struct sched *s, const struct sched_req *req)
	REQUIRES(s->lock)
{
	uint64_t now = now_ns();

	policy_unwait(&s->policy, (unsigned int)req->die, req->small);
	s->waits[req->die]++;
	s->wait_ns[req->die] += now - req->parked_at;
	trace_add(&(struct trace_span){ .kind = TRACE_WAIT,
					.die = (unsigned int)req->die,
					.pid = req->pid,
					.start = req->parked_at,
					.end = now });
}

/* Moves what @fn picks from @from to @to. */
static void sift_locked(struct sched *s, struct req_list *from,
			struct req_list *to, sift_fn fn, void *arg)
	REQUIRES(s->lock)
{
	struct sched_req **p = &from->head;

	while (*p) {
		struct sched_req *req = *p;

		if (!fn(s, req, arg, &req->result)) {
			p = &req->next;
			continue;
		}
		*p = req->next;
		if (req->op == SCHED_FLUSH)
			unwait_flush_locked(s, req);
		else if (from != &s->control)
			unwait_locked(s, req);
		s->longs[req->die] -= req->is_long;
		list_add(to, req);
	}
	from->tail = p;
}

static void sift_all_locked(struct sched *s, struct req_list *to, sift_fn fn,
			    void *arg) REQUIRES(s->lock)
{
	for (unsigned int die = 0; die < s->be->n_dies; die++)
		sift_locked(s, &s->parked[die], to, fn, arg);
	sift_locked(s, &s->control, to, fn, arg);
}

static bool pick_all(struct sched *s, struct sched_req *req, void *arg,
		     int *result)
{
	(void)s;
	(void)req;
	*result = *(const int *)arg;
	return true;
}

/*
 * The die could not be put in. What was written behind outlasts what passes,
 * and a reset that failed is the business of whoever ordered it.
 */
static bool pick_failed(struct sched *s, struct sched_req *req, void *arg,
			int *result) NO_TSA
{
	*result = *(const int *)arg;
	if (s->job_flags & BS_FORCE_SBR)
		return req->op == SCHED_RESET;
	if (req->op != SCHED_FLUSH || !sched_is_passing(*result))
		return true;
	s->is_busy[req->die] = true;
	policy_put_off(&s->policy, (unsigned int)req->die,
		       now_ns() + SCHED_BUSY_NS);
	return false;
}

/* No hold is given any more, nor anything that the end need not wait for. */
static bool pick_ending(struct sched *s, struct sched_req *req, void *arg,
			int *result)
{
	(void)s;
	(void)arg;
	*result = -ENODEV;
	return sched_is_hold(req) || req->ends_early;
}

static bool pick_interrupted(struct sched *s, struct sched_req *req, void *arg,
			     int *result)
{
	(void)s;
	(void)arg;
	*result = -EINTR;
	return atomic_load(&req->interrupted);
}

/* Blocked by a hold for too long, or not willing to be blocked at all. */
static bool pick_expired(struct sched *s, struct sched_req *req, void *arg,
			 int *result) NO_TSA
{
	uint64_t clock = *(const uint64_t *)arg;

	if (req->op == SCHED_RELEASE || req->op == SCHED_SYNC ||
	    req->op == SCHED_FLUSH || !sched_blocks_locked(s, req->die))
		return false;
	if (req->gives_way) {
		*result = -EXDEV;
		return true;
	}
	if (s->is_ending && now_ns() >= s->end_at) {
		*result = -ENODEV;
		return true;
	}
	if (!req->nowait && clock < req->deadline)
		return false;
	*result = req->nowait ? -EBUSY : -ETIMEDOUT;
	sched_note_locked(s, req, *result);
	return true;
}

/* What runs, or is done, once its die is in. */
static bool pick_ready(struct sched *s, struct sched_req *req, void *arg,
		       int *result) NO_TSA
{
	const unsigned int *bind_flags = arg; /* NULL: no bind just ended */

	*result = 0;
	switch (req->op) {
	case SCHED_IO:
		if (s->flushes[req->die]) {
			*result = sched_flush_error_locked(s, req->die);
			return *result;
		}
		if (req->is_long && s->long_runs[req->die])
			return false;
		s->long_runs[req->die] |= req->is_long;
		sched_note_client_locked(s, req);
		policy_start(&s->policy, (unsigned int)req->die);
		return true;
	case SCHED_FLUSH:
		if (sched_flush_error_locked(s, req->die))
			return false;
		s->is_busy[req->die] = false;
		policy_start(&s->policy, (unsigned int)req->die);
		return true;
	case SCHED_PIN:
	case SCHED_LEASE:
		if (sched_must_flush_locked(s, req->die))
			return false;
		sched_take_hold_locked(s, req);
		return true;
	case SCHED_ACQUIRE:
		return bind_flags;
	case SCHED_RESET:
		return bind_flags && (*bind_flags & BS_FORCE_SBR);
	default:
		return false;
	}
}

/* RELEASE and SYNC: what needs no call into the backend. */
static bool pick_control(struct sched *s, struct sched_req *req, void *arg,
			 int *result) NO_TSA
{
	int die = req->die;

	(void)arg;
	if (s->job_state != JOB_IDLE)
		return false;
	if (req->op == SCHED_SYNC) {
		*result = SCHED_NOTHING;
		if (s->policy.active != die)
			return true;
		policy_start(&s->policy, (unsigned int)die);
		*result = 0;
		return true;
	}
	*result = 0;
	return s->policy.active >= 0 && s->policy.active != die;
}

static bool wants_reset(const struct req_list *l)
{
	for (const struct sched_req *r = l->head; r; r = r->next)
		if (r->op == SCHED_RESET)
			return true;
	return false;
}

static bool wants_rebind(const struct req_list *l)
{
	for (const struct sched_req *r = l->head; r; r = r->next)
		if (r->op == SCHED_RESET || r->op == SCHED_ACQUIRE)
			return true;
	return false;
}

static void job_start_locked(struct sched *s, enum job_kind kind, int die)
	REQUIRES(s->lock)
{
	s->job = kind;
	s->job_die = (unsigned int)die;
	s->job_flags = kind == JOB_BIND && wants_reset(&s->parked[die])
			       ? BS_FORCE_SBR
			       : 0;
	s->job_state = JOB_READY;
	s->suspect[die] = false;
	pthread_cond_signal(&s->job_wake);
}

static void bind_ended_locked(struct sched *s, struct req_list *out,
			      uint64_t now) REQUIRES(s->lock)
{
	unsigned int die = s->job_die;

	if (s->job_result == -EAGAIN) {
		/* a foreign process leases the slot: its time counts as held */
		s->foreign = true;
		s->retry_at = now + SCHED_RETRY_NS;
		sched_clock_locked(s, now);
		policy_swapped(&s->policy, -1, now, 0);
		return;
	}
	s->foreign = false;
	sched_clock_locked(s, now);
	if (s->job_result == -EINTR) {
		/* the daemon was stopped, or a debugger came: nobody who waits
		 * has had a signal, and nothing was done */
		s->retry_at = now + SCHED_RETRY_NS;
		policy_swapped(&s->policy, -1, now, 0);
		return;
	}
	if (s->job_result) {
		policy_swapped(&s->policy, -1, now, 0);
		if (s->hold_die == (int)die)
			sched_clear_holds_locked(s);
		sift_locked(s, &s->parked[die], out, pick_failed, &s->job_result);
		return;
	}
	s->turn_client = 0;
	s->is_shared = false;
	policy_swapped(&s->policy, (int)die, now, s->job_cost);
	sift_locked(s, &s->parked[die], out, pick_ready, &s->job_flags);
	sched_hurry_locked(s, (int)die, now);
}

static bool pick_released(struct sched *s, struct sched_req *req, void *arg,
			  int *result)
{
	(void)s;
	*result = *(const int *)arg;
	return req->op == SCHED_RELEASE && req->is_started;
}

static void job_ended_locked(struct sched *s, struct req_list *out, uint64_t now)
	REQUIRES(s->lock)
{
	s->job_state = JOB_IDLE;
	s->is_changed = true;
	switch (s->job) {
	case JOB_BIND:
		bind_ended_locked(s, out, now);
		break;
	case JOB_UNBIND:
		policy_swapped(&s->policy, -1, now, 0);
		sift_locked(s, &s->control, out, pick_released, &s->job_result);
		break;
	default:
		policy_swapped(&s->policy, -1, now, 0);
		break;
	}
}

/* A RELEASE whose die is in, or may be: ends its holds and makes it leave. */
static void begin_release_locked(struct sched *s) REQUIRES(s->lock)
{
	for (struct sched_req *r = s->control.head; r; r = r->next) {
		if (r->op != SCHED_RELEASE || r->is_started ||
		    s->job_state != JOB_IDLE)
			continue;
		r->is_started = true;
		if (s->hold_die == r->die)
			sched_clear_holds_locked(s);
		if (s->policy.active >= 0) {
			s->policy.evict = POLICY_OUT;
			s->out_job = JOB_UNBIND;
		} else {
			s->policy.swapping_to = r->die;
			job_start_locked(s, JOB_UNBIND, r->die);
		}
	}
}

/*
 * An idle die that nobody holds is left to other processes after a while.
 * Return: when to look again.
 */
static uint64_t rest_locked(struct sched *s, uint64_t now) REQUIRES(s->lock)
{
	struct policy *p = &s->policy;
	uint64_t at;

	if (p->active < 0 || p->held || p->evict != POLICY_STAY)
		return POLICY_NEVER;
	at = now + SCHED_REST_NS;
	if (!p->dies[p->active].running && !p->dies[p->active].waiting)
		at = p->dies[p->active].last_done + SCHED_REST_NS;
	if (now < at)
		return at;
	p->evict = POLICY_OUT;
	s->out_job = JOB_REST;
	return now;
}

/*
 * Other processes wait for a slot that is never idle: their turn is a retry
 * interval after each slice.
 */
static void yield_to_others(struct sched *s)
{
	struct policy *p = &s->policy;
	struct bs_info info;
	uint64_t now = now_ns();
	int die = -1;

	sched_take(&s->lock);
	if (p->active >= 0 && !p->held && p->evict == POLICY_STAY &&
	    now >= p->slice_end && now >= s->look_at) {
		die = p->active;
		s->look_at = now + SCHED_REST_NS;
	}
	sched_leave(&s->lock);
	if (die < 0 || backend_info(s->be, (unsigned int)die, &info) ||
	    !info.waiters)
		return;
	sched_take(&s->lock);
	if (p->active == die && !p->held && p->evict == POLICY_STAY) {
		p->evict = POLICY_OUT;
		s->out_job = JOB_REST;
		s->retry_at = now + SCHED_RETRY_NS;
	}
	sched_leave(&s->lock);
	sched_wake(s);
}

static bool anyone_waits_locked(struct sched *s) REQUIRES(s->lock)
{
	for (unsigned int die = 0; die < s->be->n_dies; die++)
		if (s->policy.dies[die].waiting)
			return true;
	return false;
}

/* Time of the first deadline of a blocked request. */
static uint64_t next_deadline_locked(struct sched *s, uint64_t now)
	REQUIRES(s->lock)
{
	uint64_t clock = sched_blocked_clock_locked(s, now);
	uint64_t first = POLICY_NEVER;

	if (!s->blocked_since)
		return POLICY_NEVER;
	for (unsigned int die = 0; die < s->be->n_dies; die++) {
		if (!sched_blocks_locked(s, (int)die))
			continue;
		for (const struct sched_req *r = s->parked[die].head; r;
		     r = r->next)
			if (r->op != SCHED_FLUSH)
				first = MIN(first, r->deadline);
	}
	if (first == POLICY_NEVER)
		return first;
	if (s->is_ending)
		return MIN(now + (first > clock ? first - clock : 0), s->end_at);
	return first > clock ? now + (first - clock) : now;
}

/* One round: what ended, who must be answered, what to do next. */
static uint64_t tick_locked(struct sched *s, struct req_list *out)
	REQUIRES(s->lock)
{
	struct policy *p = &s->policy;
	uint64_t now = now_ns();
	struct policy_step step;
	uint64_t clock, wake;

	if (s->job_state == JOB_DONE)
		job_ended_locked(s, out, now);
	if (s->is_stopping) {
		int gone = -ENODEV;

		sift_all_locked(s, out, pick_all, &gone);
		return POLICY_NEVER;
	}
	if (atomic_exchange(&s->interrupts, false))
		sift_all_locked(s, out, pick_interrupted, NULL);
	if (s->is_ending)
		sift_all_locked(s, out, pick_ending, NULL);
	if (s->blocked_since) {
		clock = sched_blocked_clock_locked(s, now);
		sift_all_locked(s, out, pick_expired, &clock);
	}
	sift_locked(s, &s->control, out, pick_control, NULL);
	begin_release_locked(s);
	/* They waited for their die, then for the flush: the end of its slice
	 * must not send them away a second time. */
	if (s->flush_ended && p->active >= 0 && p->evict == POLICY_STAY &&
	    !s->suspect[p->active])
		sift_locked(s, &s->parked[p->active], out, pick_ready, NULL);
	s->flush_ended = false;

	/* a die whose turn is over is bound again with its next one */
	if (p->active >= 0 && p->evict == POLICY_STAY &&
	    p->dies[p->active].waiting && !policy_is_over(p, now) &&
	    (s->suspect[p->active] || wants_rebind(&s->parked[p->active])))
		p->evict = POLICY_REBIND;
	wake = rest_locked(s, now);

	if (s->foreign && s->job_state == JOB_IDLE && s->hold_die < 0 &&
	    !anyone_waits_locked(s)) {
		s->foreign = false;
		sched_clock_locked(s, now);
	}
	wake = MIN(wake, next_deadline_locked(s, now));
	if (p->active >= 0 && sched_flush_error_locked(s, p->active))
		wake = MIN(wake, s->flush_at[p->active]);
	if (p->active < 0 && now < s->retry_at)
		return MIN(wake, s->retry_at);

	step = policy_next(p, now);
	if (step.action == POLICY_SWAP)
		job_start_locked(s, JOB_BIND, step.die);
	else if (step.action == POLICY_VACATE)
		job_start_locked(s, s->out_job, step.die);
	else if (p->active >= 0 && policy_may_run(p, (unsigned int)p->active))
		sift_locked(s, &s->parked[p->active], out, pick_ready, NULL);
	return MIN(wake, step.wake);
}

static void sleep_until(struct sched *s, uint64_t wake)
{
	struct pollfd pfd = { .fd = s->event_fd, .events = POLLIN };
	struct timespec ts, *timeout = NULL;
	uint64_t count;

	if (wake != POLICY_NEVER) {
		uint64_t now = now_ns();
		uint64_t left = wake > now ? wake - now : 0;

		ts.tv_sec = (time_t)(left / NSEC_PER_SEC);
		ts.tv_nsec = (long)(left % NSEC_PER_SEC);
		timeout = &ts;
	}
	if (ppoll(&pfd, 1, timeout, NULL) > 0 &&
	    read(s->event_fd, &count, sizeof(count)) < 0)
		return;
}

void *sched_thread(void *arg)
{
	struct sched *s = arg;

	for (;;) {
		struct req_list out;
		bool is_changed, is_stopping;
		uint64_t wake;

		list_init(&out);
		sched_take(&s->lock);
		wake = tick_locked(s, &out);
		is_stopping = s->is_stopping;
		is_changed = s->is_changed;
		s->is_changed = false;
		sched_leave(&s->lock);

		while (out.head) {
			struct sched_req *req = out.head;

			out.head = req->next;
			req->resume(req, req->result);
		}
		if (is_changed && s->changed)
			s->changed(s->arg);
		if (is_stopping)
			break;
		yield_to_others(s);
		sleep_until(s, wake);
	}
	return NULL;
}
