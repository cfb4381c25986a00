/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dropping pages that a write has made old.
 *
 * MAP_PRIVATE, sendfile and splice fill the page cache of a file that is
 * otherwise read past it. From Linux 6.6 the kernel drops what a direct write
 * touches; before that, and for what ctl commands change, we must ask it to.
 * The kernel then waits for reads of those pages that are under way, and these
 * need our threads: so one thread of its own asks, and answers the write after.
 */
#include "fuse/inval.h"

#include <errno.h>
#include <fuse_lowlevel.h>

#include "fuse/fs.h"

/* FUSE 7.39 is Linux 6.6: fs/fuse/file.c, fuse_direct_io() */
#define FUSE_MINOR_INVALIDATES 39

bool fs_inval_needed(struct fs *fs, uint64_t ino, bool is_write)
{
	if (!fs->has_pages[ino])
		return false;
	/* A cached write keeps its pages locked until it is answered, and the
	 * kernel updates them itself. */
	return !is_write ||
	       (!fs->opts->cache && fs->proto_minor < FUSE_MINOR_INVALIDATES);
}

void fs_inval_queue(struct fs *fs, struct fs_inval *job)
{
	job->next = NULL;
	pthread_mutex_lock(&fs->inval_lock);
	*fs->inval_tail = job;
	fs->inval_tail = &job->next;
	pthread_cond_signal(&fs->inval_wake);
	pthread_mutex_unlock(&fs->inval_lock);
}

static void *inval_thread(void *arg)
{
	struct fs *fs = arg;

	pthread_mutex_lock(&fs->inval_lock);
	for (;;) {
		struct fs_inval *job = fs->inval_head;

		if (!job) {
			if (fs->is_inval_stopping)
				break;
			pthread_cond_wait(&fs->inval_wake, &fs->inval_lock);
			continue;
		}
		fs->inval_head = job->next;
		if (!fs->inval_head)
			fs->inval_tail = &fs->inval_head;
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
	pthread_mutex_init(&fs->inval_lock, NULL);
	pthread_cond_init(&fs->inval_wake, NULL);
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
