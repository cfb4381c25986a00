/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dropping pages that a change has made old.
 *
 * MAP_PRIVATE, sendfile and splice fill the page cache of a file that is
 * otherwise read past it, and with -o cache all files are read through it. Some
 * kernels drop what a direct write touches, but before the write, so that a
 * page fault beside it brings the old bytes back. So we ask the kernel to,
 * after every change and before its answer. It then waits for reads of those
 * pages that are under way, and these need our threads: one thread of its own
 * asks, and answers the request after.
 */
#include "fuse/inval.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <time.h>

#include "base/util.h"
#include "fuse/fs.h"

bool fs_inval_needed(struct fs *fs, uint64_t ino)
{
	return fs->has_pages[ino];
}

void fs_inval_queue(struct fs *fs, struct fs_inval *job)
{
	job->next = NULL;
	job->until = now_ns() + fs->io.wait_ns;
	pthread_mutex_lock(&fs->inval_lock);
	*fs->inval_tail = job;
	fs->inval_tail = &job->next;
	pthread_cond_signal(&fs->inval_wake);
	pthread_mutex_unlock(&fs->inval_lock);
}

/* an answer that comes after pages were dropped */
struct late_answer {
	struct fs_inval job;
	struct fuse_req *req;
	void (*answer)(struct fuse_req *req, uint64_t ino);
};

static void on_dropped(struct fs_inval *job)
{
	struct late_answer *late = container_of(job, struct late_answer, job);

	late->answer(late->req, job->ino);
	free(late);
}

void fs_inval_answer(struct fs *fs, uint64_t ino, uint64_t from, uint64_t to,
		     struct fuse_req *req,
		     void (*answer)(struct fuse_req *req, uint64_t ino))
{
	struct late_answer *late = NULL;

	if (from < to && fs_inval_needed(fs, ino))
		late = calloc(1, sizeof(*late));
	if (!late) {
		answer(req, ino);
		return;
	}
	late->req = req;
	late->answer = answer;
	late->job.ino = ino;
	late->job.off = (off_t)from;
	late->job.len = (off_t)(to - from);
	late->job.then = on_dropped;
	fs_inval_queue(fs, &late->job);
}

static void on_part(struct fs_inval *job)
{
	struct fs_inval_die *all =
		container_of(job, struct fs_inval_part, job)->all;

	if (atomic_fetch_sub(&all->n_left, 1) == 1)
		all->then(all);
}

bool fs_inval_die(struct fs *fs, int die, struct fs_inval_die *all,
		  void (*then)(struct fs_inval_die *all))
{
	unsigned int n = 0;

	for (uint64_t ino = 0; ino < NODE_TABLE_LEN; ino++) {
		const struct node *node = node_get(&fs->nodes, ino);

		if (!node || node->die != die || !fs_inval_needed(fs, ino) ||
		    (node->kind != NODE_VRAM && node->kind != NODE_RESMEM))
			continue;
		all->parts[n] = (struct fs_inval_part){
			.job = { .ino = ino, .then = on_part },
			.all = all,
		};
		n++;
	}
	all->then = then;
	all->n_left = n;
	/* the last of them may end before this does */
	for (unsigned int i = 0; i < n; i++)
		fs_inval_queue(fs, &all->parts[i].job);
	return n;
}

void fs_inval_park(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->inval_lock);
	fs->parked_fills[ino]++;
	pthread_mutex_unlock(&fs->inval_lock);
}

void fs_inval_unpark(struct fs *fs, uint64_t ino)
{
	pthread_mutex_lock(&fs->inval_lock);
	if (!--fs->parked_fills[ino])
		pthread_cond_signal(&fs->inval_wake);
	pthread_mutex_unlock(&fs->inval_lock);
}

static bool must_wait_locked(const struct fs *fs, const struct fs_inval *job,
			     uint64_t now)
{
	return job->ino < NODE_TABLE_LEN && fs->parked_fills[job->ino] &&
	       now < job->until && !fs->is_inval_stopping;
}

/* The first job that waits for no fill, off the list; NULL: look at @again. */
static struct fs_inval *take_locked(struct fs *fs, uint64_t *again)
{
	struct fs_inval **p = &fs->inval_head, *job;
	uint64_t now = now_ns();

	*again = UINT64_MAX;
	while (*p && must_wait_locked(fs, *p, now)) {
		*again = MIN(*again, (*p)->until);
		p = &(*p)->next;
	}
	job = *p;
	if (!job)
		return NULL;
	*p = job->next;
	if (!*p)
		fs->inval_tail = p;
	return job;
}

static void sleep_locked(struct fs *fs, uint64_t until)
{
	struct timespec at = { .tv_sec = (time_t)(until / NSEC_PER_SEC),
			       .tv_nsec = (long)(until % NSEC_PER_SEC) };

	if (until == UINT64_MAX)
		pthread_cond_wait(&fs->inval_wake, &fs->inval_lock);
	else
		pthread_cond_timedwait(&fs->inval_wake, &fs->inval_lock, &at);
}

static void *inval_thread(void *arg)
{
	struct fs *fs = arg;
	struct fs_inval *job;
	uint64_t again;

	pthread_mutex_lock(&fs->inval_lock);
	for (;;) {
		job = take_locked(fs, &again);
		if (!job) {
			if (fs->is_inval_stopping)
				break;
			sleep_locked(fs, again);
			continue;
		}
		pthread_mutex_unlock(&fs->inval_lock);
		/* it fails only where there are no pages to drop */
		fuse_lowlevel_notify_inval_inode(fs->se, job->ino, job->off,
						 job->len);
		job->then(job);
		pthread_mutex_lock(&fs->inval_lock);
	}
	pthread_mutex_unlock(&fs->inval_lock);
	return NULL;
}

int fs_inval_start(struct fs *fs)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&fs->inval_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fs->inval_wake, &attr);
	pthread_condattr_destroy(&attr);
	fs->inval_tail = &fs->inval_head;
	return -pthread_create(&fs->inval_thread, NULL, inval_thread, fs);
}

void fs_inval_stop(struct fs *fs)
{
	pthread_mutex_lock(&fs->inval_lock);
	fs->is_inval_stopping = true;
	pthread_cond_signal(&fs->inval_wake);
	pthread_mutex_unlock(&fs->inval_lock);
	pthread_join(fs->inval_thread, NULL);
	pthread_cond_destroy(&fs->inval_wake);
	pthread_mutex_destroy(&fs->inval_lock);
}
