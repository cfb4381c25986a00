/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/interrupt.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "fuse/fs.h"

#define LOOK_NS (100 * NSEC_PER_MSEC) /* between two looks */

/*
 * Whether a signal waits for this thread. One of which nothing can be learned
 * may have any; and a thread in which the kernel runs a ring's requests is
 * interrupted by the ring for nothing but their end.
 */
static bool has_signal(pid_t tid)
{
	unsigned long long own = 0, shared = 0, blocked = 0;
	char path[32], line[128];
	bool is_ring = false;
	FILE *f;

	if (!tid)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return true;
	while (fgets(line, sizeof(line), f)) {
		is_ring = is_ring || !strncmp(line, "Name:\tiou-wrk-", 14);
		sscanf(line, "SigPnd: %llx", &own);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
	}
	fclose(f);
	return is_ring || ((own | shared) & ~blocked);
}

/* Returns false if nobody would look at it again. */
static bool add(struct fs_interrupt *i)
{
	struct fs_interrupts *all = &i->fs->interrupts;
	bool is_stopping;

	pthread_mutex_lock(&all->lock);
	is_stopping = all->is_stopping;
	if (!is_stopping && !i->is_listed) {
		i->is_listed = true;
		i->next = all->list;
		all->list = i;
		pthread_cond_signal(&all->wake);
	}
	pthread_mutex_unlock(&all->lock);
	return !is_stopping;
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct fs_interrupt *i = data;

	(void)req;
	if (has_signal(i->tid) || !add(i))
		i->tell(i);
}

/*
 * libfuse calls on_interrupt at once if a signal came earlier, and holds the
 * request's lock meanwhile; after it is taken away none runs or will run.
 */
void fs_interrupt_arm(struct fs_interrupt *i, struct fs *fs,
		      struct fuse_req *req, void (*tell)(struct fs_interrupt *i))
{
	*i = (struct fs_interrupt){ .fs = fs,
				    .tell = tell,
				    .tid = fuse_req_ctx(req)->pid };
	fuse_req_interrupt_func(req, on_interrupt, i);
}

void fs_interrupt_disarm(struct fs_interrupt *i, struct fuse_req *req)
{
	struct fs_interrupts *all = &i->fs->interrupts;

	fuse_req_interrupt_func(req, NULL, NULL);
	pthread_mutex_lock(&all->lock);
	for (struct fs_interrupt **p = &all->list; *p; p = &(*p)->next) {
		if (*p == i) {
			*p = i->next;
			break;
		}
	}
	pthread_mutex_unlock(&all->lock);
}

/* Told under the lock: a call is not disarmed, and goes, in the middle. */
static void look_locked(struct fs_interrupts *all)
{
	struct fs_interrupt **p = &all->list;

	while (*p) {
		struct fs_interrupt *i = *p;

		if (!all->is_stopping && !has_signal(i->tid)) {
			p = &i->next;
			continue;
		}
		*p = i->next;
		i->is_listed = false;
		i->tell(i);
	}
}

static void *look_thread(void *arg)
{
	struct fs_interrupts *all = arg;

	pthread_mutex_lock(&all->lock);
	while (!all->is_stopping) {
		uint64_t at = now_ns() + LOOK_NS;
		struct timespec until = {
			.tv_sec = (time_t)(at / NSEC_PER_SEC),
			.tv_nsec = (long)(at % NSEC_PER_SEC),
		};

		while (!all->list && !all->is_stopping)
			pthread_cond_wait(&all->wake, &all->lock);
		while (!all->is_stopping && now_ns() < at)
			pthread_cond_timedwait(&all->wake, &all->lock, &until);
		look_locked(all);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

int fs_interrupt_start(struct fs *fs)
{
	struct fs_interrupts *all = &fs->interrupts;
	pthread_condattr_t attr;

	pthread_mutex_init(&all->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&all->wake, &attr);
	pthread_condattr_destroy(&attr);
	return -pthread_create(&all->thread, NULL, look_thread, all);
}

void fs_interrupt_stop(struct fs *fs)
{
	struct fs_interrupts *all = &fs->interrupts;

	pthread_mutex_lock(&all->lock);
	all->is_stopping = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
	pthread_join(all->thread, NULL);
}
