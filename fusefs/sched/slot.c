/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slot thread: makes the one call at a time that may take long.
 */
#include <errno.h>

#include "base/log.h"
#include "sched/priv.h"

static void job_run(struct sched *s, enum job_kind kind, unsigned int die,
		    unsigned int flags, int *result, uint64_t *cost)
{
	uint64_t swaps = atomic_load(&s->be->swaps);
	uint64_t start = now_ns();

	*result = 0;
	*cost = 0;
	switch (kind) {
	case JOB_BIND:
		*result = backend_bind(s->be, die, flags);
		if (atomic_load(&s->be->swaps) != swaps)
			*cost = now_ns() - start;
		break;
	case JOB_UNBIND:
		*result = backend_unbind(s->be, die);
		break;
	default:
		backend_rest(s->be, die);
		break;
	}
}

/*
 * Once a die and error: anybody who may read a die that cannot be put in could
 * fill the log otherwise.
 * @said: what was reported of each die since it was put in last
 */
static void report(struct sched *s, enum job_kind kind, unsigned int die,
		   int result, int *said)
{
	struct bs_info info;

	if (!result && kind == JOB_BIND)
		said[die] = 0;
	if (!result || result == -EAGAIN || result == said[die] ||
	    backend_info(s->be, die, &info))
		return;
	said[die] = result;
	log_warn("die=%u %s failed: errno %d: %s", die,
		 kind == JOB_BIND ? "acquire" : "release", -result,
		 info.last_error);
}

void *sched_slot_thread(void *arg)
{
	struct sched *s = arg;
	int said[POLICY_MAX_DIES] = { 0 };

	sched_take(&s->lock);
	while (!s->is_stopping) {
		enum job_kind kind;
		unsigned int die, flags;
		uint64_t cost;
		int result;

		if (s->job_state != JOB_READY) {
			pthread_cond_wait(&s->job_wake, &s->lock.mutex);
			continue;
		}
		kind = s->job;
		die = s->job_die;
		flags = s->job_flags;
		s->job_state = JOB_RUNNING;
		sched_leave(&s->lock);

		job_run(s, kind, die, flags, &result, &cost);
		report(s, kind, die, result, said);

		sched_take(&s->lock);
		s->job_result = result;
		s->job_cost = cost;
		s->job_state = JOB_DONE;
		sched_wake(s);
	}
	sched_leave(&s->lock);
	return NULL;
}
