/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched/ - who has the slot, and when: policy.c decides on numbers alone,
 * thread.c carries it out, hold.c and flush.c know what keeps dies in.
 * May use: backend, text and base.
 * Must not know: what a request does with its die, or who is to be answered.
 * No lock of it is held across a call of the backend, a copy or a callback.
 *
 * The scheduler: requests, threads and clocks around the policy.
 *
 * A request that cannot run at once is parked: it holds no thread, and its
 * resume callback is called when the die is in, or when it must fail. One
 * thread decides; a second one makes the calls that may take long (a swap, a
 * reset), so that a parked request is answered at once when it is interrupted.
 */
#ifndef K80FS_SCHED_H
#define K80FS_SCHED_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/backend.h"

struct sched;

enum sched_op {
	SCHED_IO, /* run with the die in; then sched_put() */
	SCHED_SYNC, /* the same if it is in, SCHED_NOTHING if it is out */
	SCHED_ACQUIRE, /* put it in, look at it again if it is in */
	SCHED_PIN, /* put it in, keep it until unpin or release */
	SCHED_LEASE, /* the same until sched_drop() */
	SCHED_RELEASE, /* take it out, ends its pin and leases */
	SCHED_RESET, /* put it in with a secondary bus reset first */
	SCHED_FLUSH, /* see sched_flush() */
};

#define SCHED_NOTHING  1
#define SCHED_COMM_LEN 16
#define SCHED_NOTE_LEN 192

/**
 * struct sched_hold - a lease; lives in the open file that took it
 * @die: the die it keeps in, -1 for none; the scheduler's, who may end it at
 * any moment: sched_drop() must come before the memory goes
 */
struct sched_hold {
	struct sched_hold *next;
	_Atomic int die;
	_Atomic pid_t pid;
	char comm[SCHED_COMM_LEN];
};

/**
 * struct sched_req - a request; the caller fills in the first part
 * @op:      what it wants
 * @die:     of which die
 * @small:   IO: few enough bytes to interrupt another die's slice, see
 *           policy_is_small()
 * @nowait:  -EBUSY instead of waiting for another's hold to end
 * @gives_way: -EXDEV instead of waiting for another's hold to end
 * @is_long: IO: takes longer than others; they take turns, and one of them runs
 *           at a time on a die. It ends with sched_put_long()
 * @ends_early: -ENODEV once sched_end_holds() was called
 * @wait_ns: how long a hold of another die may block it
 * @pid:     who asks, 0 if not known; @comm: its name, for PIN and LEASE
 * @hold:    LEASE: where the lease is kept
 * @resume:  called once for a parked request, without locks, from the
 *           scheduler's thread: must not wait. 0: as sched_try() giving 0
 * @interrupted: set by sched_interrupt()
 */
struct sched_req {
	enum sched_op op;
	int die;
	bool small;
	bool nowait;
	bool gives_way;
	bool is_long;
	bool ends_early;
	uint64_t wait_ns;
	pid_t pid;
	char comm[SCHED_COMM_LEN];
	struct sched_hold *hold;
	void (*resume)(struct sched_req *req, int result);

	_Atomic bool interrupted;
	/* the scheduler's */
	uint64_t deadline; /* on the clock of time blocked by holds */
	uint64_t parked_at;
	bool is_started;
	int result;
	struct sched_req *next;
};

/**
 * sched_start() - start the threads
 * @be:      backend, opened
 * @changed: called without locks when the slot, a hold or a die's condition
 *           may have changed; may be NULL
 *
 * Return: 0 or -errno.
 */
int sched_start(struct sched **out, struct backend *be,
		void (*changed)(void *arg), void *arg);

/**
 * sched_stop() - end the threads; the die that is in stays in
 *
 * Parked requests get -ENODEV, and so do later ones. What runs may go on and
 * calls sched_put() as ever.
 *
 * Return: 0; -EBUSY a reset still runs: neither sched_free() nor
 * backend_close() may be called.
 */
int sched_stop(struct sched *s);

/** sched_free() - after sched_stop(), once nothing runs any more */
void sched_free(struct sched *s);

/**
 * sched_try() - run it now if that needs no wait
 *
 * Return: 0: IO, SYNC: the die is in until sched_put(); others: done.
 * SCHED_NOTHING: SYNC of a die that is out. -EAGAIN: call sched_park().
 * -EBUSY: @nowait and another die is held. -EXDEV: @gives_way, likewise.
 * -ENODEV: stopping.
 */
int sched_try(struct sched *s, struct sched_req *req);

/** sched_park() - wait; resume() is called sooner or later, maybe at once.
 * Its results: 0, SCHED_NOTHING, -EBUSY, -EXDEV, -ETIMEDOUT (a hold outlasted
 * @wait_ns), -EINTR, -ENODEV, and what backend_bind() says. */
void sched_park(struct sched *s, struct sched_req *req);

/* Which time a FLUSH is parked: the first one; again, as its die was taken out
 * under it; later, as its die refused it and may not do so for long. */
enum sched_flush_turn {
	SCHED_FLUSH_FIRST,
	SCHED_FLUSH_AGAIN,
	SCHED_FLUSH_LATER
};

/**
 * sched_is_passing() - whether a die that gave this error may well take the
 * same bytes a moment later: a driver was bound, memory was short
 */
static inline bool sched_is_passing(int error)
{
	return error == -EBUSY || error == -ENOMEM;
}

/**
 * sched_flush() - park a FLUSH, which runs before all else of its die
 * @turn:  FIRST, or why it comes back after it was resumed with 0
 * @error: LATER: the passing error, which requests of that die get until the
 *         FLUSH has its next turn, in a second
 *
 * It is in no hurry: its die gets a turn for it after a while, see
 * POLICY_LAZY_SWAPS, or with the next request that waits for that die.
 *
 * Until sched_flushed() no IO request of that die starts, whether it came
 * earlier or later. A FLUSH waits as long as it takes, also for a die that
 * cannot be put in for a passing reason, and resume() gets 0 or the reason if
 * it is another one.
 *
 * Return: false, with nothing done, if it is the FIRST and the die is in, or
 * about to be, or kept out by a hold, or if a hold waits: that begins when all
 * is flushed.
 */
bool sched_flush(struct sched *s, struct sched_req *req,
		 enum sched_flush_turn turn, int error);

/** sched_hurry() - a parked FLUSH of @die is to have its turn like any other */
void sched_hurry(struct sched *s, unsigned int die);

/** sched_flushed() - a FLUSH that was resumed with 0 has ended */
void sched_flushed(struct sched *s, unsigned int die);

/** sched_alternates() - whether the last request of @pid was for another die */
bool sched_alternates(struct sched *s, pid_t pid, unsigned int die);

/** sched_put() - an IO or SYNC request has finished its copy */
void sched_put(struct sched *s, unsigned int die);

/** sched_put_long() - the same of an IO request that is long */
void sched_put_long(struct sched *s, unsigned int die);

/** sched_interrupt() - only marks and wakes: any context, any lock */
void sched_interrupt(struct sched *s, struct sched_req *req);

/** sched_suspect() - a copy failed: look at the die before the next one */
void sched_suspect(struct sched *s, unsigned int die);

/** sched_unpin() - end every hold of @die */
void sched_unpin(struct sched *s, unsigned int die);

/**
 * sched_end_holds() - end all, and answer who asks for one with -ENODEV
 * @patience_ns: after that time, what another process' lease keeps waiting gets
 *               the same answer
 */
void sched_end_holds(struct sched *s, uint64_t patience_ns);

/** sched_is_kept_out() - whether a hold of another die blocks @die */
bool sched_is_kept_out(struct sched *s, unsigned int die);

/** sched_drop() - end one lease, if it still stands */
void sched_drop(struct sched *s, struct sched_hold *hold);

/** sched_set_slice() - in ms, 0 for auto */
void sched_set_slice(struct sched *s, uint32_t ms);

/**
 * struct sched_view - what status shows of a die
 * @hold:    "none", "pin" or "lease"
 * @holder:  "PID COMM" or ""
 * @waiters: parked requests; @waits: how many there were, @wait_ns: and for how
 *           long all together, until they were resumed
 * @note:    when and why a request of it was refused last, or ""; @note_count
 *           of them
 */
struct sched_view {
	const char *hold;
	char holder[SCHED_COMM_LEN + 16];
	uint32_t waiters;
	uint64_t waits;
	uint64_t wait_ns;
	char note[SCHED_NOTE_LEN];
	uint64_t note_count;
};

/** sched_view() - never waits */
void sched_view(struct sched *s, unsigned int die, struct sched_view *view);

/** sched_slice_ms() - as set, 0 for auto */
uint32_t sched_slice_ms(struct sched *s);

#endif /* K80FS_SCHED_H */
