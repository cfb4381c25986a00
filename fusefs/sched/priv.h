/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the scheduler's files share. hold.c knows what keeps a die in; above it
 * flush.c is about what was written behind; above both thread.c decides and
 * slot.c swaps; sched.c, what callers see, starts them.
 */
#ifndef K80FS_SCHED_PRIV_H
#define K80FS_SCHED_PRIV_H

#include <pthread.h>
#include <unistd.h>

#include "base/util.h"
#include "sched/policy.h"
#include "sched/sched.h"

#define SCHED_REST_NS (100 * NSEC_PER_MSEC) /* idle before others may take it */
#define SCHED_BUSY_NS NSEC_PER_SEC /* a flush that was put off tries again */
#define SCHED_RETRY_NS \
	(10 * NSEC_PER_MSEC) /* between tries at a foreign lease */

struct CAPABILITY sched_lock {
	pthread_mutex_t mutex;
};

struct req_list {
	struct sched_req *head;
	struct sched_req **tail;
};

enum job_kind {
	JOB_NONE,
	JOB_BIND,
	JOB_UNBIND,
	JOB_REST, /* end the lease of an idle die; it stays in */
};

enum job_state { JOB_IDLE, JOB_READY, JOB_RUNNING, JOB_DONE };

/*
 * Lock order: lock alone; it is held for counting and list work only, never
 * across a call into the backend, a copy or a callback.
 */
struct sched {
	struct backend *be; /* immutable, as @changed, @arg, @event_fd */
	void (*changed)(void *arg);
	void *arg;
	int event_fd;
	pthread_t thread;
	pthread_t slot_thread;

	_Atomic bool interrupts; /* some parked request was interrupted */

	struct sched_lock lock; /* guards all below */
	struct policy policy;
	struct req_list parked[POLICY_MAX_DIES]; /* need their die in */
	struct req_list control; /* RELEASE and SYNC */
	unsigned int flushes[POLICY_MAX_DIES]; /* parked or running */
	bool is_busy[POLICY_MAX_DIES]; /* a flush was put off */
	uint64_t flush_at[POLICY_MAX_DIES]; /* no flush before, its die in or not */
	int flush_error[POLICY_MAX_DIES]; /* why */
	bool flush_ended; /* the active die's requests may start now */
	bool long_runs[POLICY_MAX_DIES]; /* a long request does */
	unsigned int longs[POLICY_MAX_DIES]; /* those that are parked */
	pid_t client[POLICY_MAX_DIES]; /* of the last IO request */
	pid_t turn_client; /* the same since the active die is in, 0 for none */
	bool is_shared; /* it had several since then */
	_Atomic bool is_ending; /* no hold is given any more */
	uint64_t end_at; /* then nothing waits for a hold any more, either */
	bool suspect[POLICY_MAX_DIES];
	bool is_stopping;
	bool is_changed;

	char notes[POLICY_MAX_DIES][SCHED_NOTE_LEN]; /* refusals, for status */
	uint64_t note_counts[POLICY_MAX_DIES];
	uint64_t waits[POLICY_MAX_DIES]; /* requests that waited and were resumed */
	uint64_t wait_ns[POLICY_MAX_DIES];

	/* holds: all of one die */
	int hold_die; /* -1 for none */
	uint64_t held_at; /* since when */
	bool is_pinned;
	pid_t pin_pid;
	char pin_comm[SCHED_COMM_LEN];
	struct sched_hold *leases;
	bool foreign; /* another process leases the slot */
	uint64_t retry_at; /* no swap in before that */
	uint64_t look_at; /* next look for waiters in other processes */
	uint64_t blocked_ns; /* time blocked by holds, up to ... */
	uint64_t blocked_since; /* ... here; 0 while nothing blocks */

	/* the slot thread's one job */
	pthread_cond_t job_wake;
	enum job_state job_state;
	enum job_kind job;
	enum job_kind out_job; /* what POLICY_OUT is to do */
	unsigned int job_die;
	unsigned int job_flags;
	int job_result;
	uint64_t job_cost; /* ns, 0 if nothing was programmed */
};

static inline void sched_take(struct sched_lock *l) ACQUIRES(*l) NO_TSA
{
	pthread_mutex_lock(&l->mutex);
}

static inline void sched_leave(struct sched_lock *l) RELEASES(*l) NO_TSA
{
	pthread_mutex_unlock(&l->mutex);
}

static inline void list_init(struct req_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static inline void list_add(struct req_list *l, struct sched_req *req)
{
	req->next = NULL;
	*l->tail = req;
	l->tail = &req->next;
}

static inline bool sched_is_hold(const struct sched_req *req)
{
	return req->op == SCHED_PIN || req->op == SCHED_LEASE;
}

/* The deciding thread looks at everything again. */
static inline void sched_wake(struct sched *s)
{
	uint64_t one = 1;

	/* can only fail when it would count past 2^64: it is awake then */
	if (write(s->event_fd, &one, sizeof(one)) < 0)
		return;
}

/* hold.c */
void sched_clear_holds_locked(struct sched *s) REQUIRES(s->lock);
void sched_take_hold_locked(struct sched *s, struct sched_req *req)
	REQUIRES(s->lock);
void sched_name_holder_locked(const struct sched *s, char *buf, size_t len)
	REQUIRES(s->lock);
void sched_note_locked(struct sched *s, const struct sched_req *req, int error)
	REQUIRES(s->lock);
bool sched_blocks_locked(const struct sched *s, int die) REQUIRES(s->lock);
uint64_t sched_blocked_clock_locked(const struct sched *s, uint64_t now)
	REQUIRES(s->lock);
void sched_clock_locked(struct sched *s, uint64_t now) REQUIRES(s->lock);

/* flush.c */
void sched_note_client_locked(struct sched *s, const struct sched_req *req)
	REQUIRES(s->lock);
bool sched_must_flush_locked(const struct sched *s, int die) REQUIRES(s->lock);
void sched_hurry_locked(struct sched *s, int die, uint64_t now) REQUIRES(s->lock);
int sched_flush_error_locked(const struct sched *s, int die) REQUIRES(s->lock);

/* thread.c */
void *sched_thread(void *arg);

/* slot.c */
void *sched_slot_thread(void *arg);

#endif /* K80FS_SCHED_PRIV_H */
