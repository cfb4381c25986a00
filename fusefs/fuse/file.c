/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "base/util.h"
#include "compute/compute.h"
#include "fuse/attr.h"
#include "fuse/compute.h"
#include "fuse/mem.h"
#include "fuse/metrics.h"
#include "fuse/status.h"
#include "fuse/trace.h"
#include "fuse/vram.h"
#include "text/trace.h"

/* Open files that anybody may open, and what one of them takes at most */
#define TEXTS_MAX ((uint64_t)16 << 20)
#define TEXT_LEN  (sizeof(struct fs_file) + COMPUTE_LOG_MAX)

void fs_files_init(struct fs *fs)
{
	pthread_condattr_t attr;

	fs->texts.max = TEXTS_MAX;
	pthread_mutex_init(&fs->pairs.lock, NULL);
	pthread_mutex_init(&fs->files_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fs->files_finished, &attr);
	pthread_condattr_destroy(&attr);
}

static void list_add(struct fs *fs, struct fs_file *f)
{
	pthread_mutex_lock(&fs->files_lock);
	f->next = fs->files;
	f->link = &fs->files;
	if (f->next)
		f->next->link = &f->next;
	fs->files = f;
	fs->n_open++;
	pthread_mutex_unlock(&fs->files_lock);
}

static void list_del(struct fs *fs, struct fs_file *f)
{
	pthread_mutex_lock(&fs->files_lock);
	*f->link = f->next;
	if (f->next)
		f->next->link = f->link;
	fs->n_open--;
	pthread_mutex_unlock(&fs->files_lock);
}

static int open_memory(struct fs *fs, struct fs_file *f)
{
	unsigned int die = (unsigned int)f->node->die;
	struct bs_info info;
	int ret;

	ret = backend_info(&fs->be, die, &info);
	if (ret)
		return ret;
	if (!info.alive || info.state == BS_STATE_DEAD)
		return -ENXIO;
	f->io.die = die;
	f->io.base =
		f->node->kind == NODE_RESMEM ? fs->be.dies[die].vram_bytes : 0;
	f->io.len = fs_vram_len(fs, f->node);
	f->io.generation = info.generation;
	f->io.nowait = f->flags & O_NONBLOCK;
	f->io.sync = fs->opts->sync || (f->flags & (O_SYNC | O_DSYNC));
	f->io.lost = backend_lost(&fs->be, die);
	f->io.reader = backend_reader_new(&fs->be, die);
	/* kernels may change what would be read ahead */
	if (fs->is_vram_given[die])
		backend_reader_limit(&fs->be, die, f->io.reader, 0, 0);
	return 0;
}

void fs_file_drop(struct fs *fs, struct fs_file *f)
{
	if (f->mem)
		fs_mem_close(f);
	fs_pair_remove(&fs->pairs, &f->pair);
	image_stop(&fs->io.images, &f->io.image);
	readahead_free(&f->io.ra, &fs->io.ra);
	backend_reader_end(&fs->be, f->io.die, f->io.reader);
	if (fs_file_is_status(f))
		fs_status_forget(fs, f);
	/* a lease may end at this moment: only the scheduler can tell */
	if (f->node->kind == NODE_CTL || f->node->kind == NODE_ROOT_CTL)
		sched_drop(fs->io.sched, &f->hold);
	pthread_mutex_destroy(&f->text_lock);
	lines_free(&f->lines);
	budget_give(&fs->io.kept, f->module.room);
	budget_give(&fs->texts, f->texts_room);
	free(f->module.text);
	free(f->text);
	/* whoever waits for the last file to go waits for all of this */
	list_del(fs, f);
	free(f);
}

/* Root and the owner keep what they open; there are not many of them. */
static uint64_t texts_room(struct fs *fs, const struct node *n, uid_t uid)
{
	if (!node_is_report(n) || uid == 0 || uid == fs->opts->uid)
		return 0;
	return n->kind == NODE_TRACE ? TRACE_TEXT_MAX : TEXT_LEN;
}

void fs_file_snapshot(struct fs *fs, struct fs_file *f)
{
	if (fs_file_is_status(f)) {
		fs_status_snapshot(fs, f);
		return;
	}
	pthread_mutex_lock(&f->text_lock);
	f->text_len = fs_metrics_text(fs, f->text);
	pthread_mutex_unlock(&f->text_lock);
}

static int open_by_kind(struct fs *fs, struct fs_file *f, uint64_t ino)
{
	if (f->node->kind == NODE_MEM)
		return fs_mem_open(fs, f, ino);
	if (fs_file_is_memory(f))
		return open_memory(fs, f);
	if (node_is_compute(f->node))
		return fs_compute_snapshot(fs, f);
	if (f->node->kind == NODE_TRACE)
		return fs_trace_snapshot(fs, f);
	if (!fs_file_is_text(f))
		return 0;
	f->text = malloc(FS_TEXT_MAX);
	if (!f->text)
		return -ENOMEM;
	fs_file_snapshot(fs, f);
	return 0;
}

int fs_file_new(struct fs *fs, const struct node *n, uint64_t ino, int flags,
		uid_t uid, struct fs_file **out)
{
	uint64_t room = texts_room(fs, n, uid);
	struct fs_file *f;
	int ret;

	if (room && !budget_take(&fs->texts, room))
		return -ENFILE;
	f = calloc(1, sizeof(*f));
	if (!f) {
		budget_give(&fs->texts, room);
		return -ENOMEM;
	}
	f->texts_room = room;
	f->node = n;
	f->flags = flags;
	f->hold.die = -1;
	pthread_mutex_init(&f->text_lock, NULL);
	readahead_init(&f->io.ra);
	list_add(fs, f);
	ret = open_by_kind(fs, f, ino);
	if (ret)
		fs_file_drop(fs, f);
	else
		*out = f;
	return ret;
}

static void finished(struct fs *fs)
{
	pthread_mutex_lock(&fs->files_lock);
	if (!--fs->n_finishing)
		pthread_cond_broadcast(&fs->files_finished);
	pthread_mutex_unlock(&fs->files_lock);
}

static void on_closed(struct fs *fs, struct fs_file *f)
{
	fs_file_drop(fs, f);
	finished(fs);
}

void fs_file_close(struct fs *fs, struct fs_file *f)
{
	fs_pair_remove(&fs->pairs, &f->pair);
	pthread_mutex_lock(&fs->files_lock);
	f->is_closing = true;
	fs->n_finishing++;
	pthread_mutex_unlock(&fs->files_lock);
	if (fs_file_is_memory(f))
		fs_vram_finish(fs, f, on_closed);
	else
		on_closed(fs, f);
}

static void on_left(struct fs *fs, struct fs_file *f)
{
	(void)f;
	finished(fs);
}

/* An open file of memory that nobody has closed; the caller is to finish it. */
static struct fs_file *take_left(struct fs *fs)
{
	struct fs_file *f;

	pthread_mutex_lock(&fs->files_lock);
	for (f = fs->files; f; f = f->next)
		if (!f->is_closing && fs_file_is_memory(f))
			break;
	if (f) {
		f->is_closing = true;
		fs->n_finishing++;
	}
	pthread_mutex_unlock(&fs->files_lock);
	return f;
}

void fs_files_finish(struct fs *fs, uint64_t until)
{
	struct timespec at = { .tv_sec = (time_t)(until / NSEC_PER_SEC),
			       .tv_nsec = (long)(until % NSEC_PER_SEC) };
	struct fs_file *f;
	int ret = 0;

	while ((f = take_left(fs)))
		fs_vram_finish(fs, f, on_left);
	pthread_mutex_lock(&fs->files_lock);
	while (fs->n_finishing && !ret)
		ret = pthread_cond_timedwait(&fs->files_finished,
					     &fs->files_lock, &at);
	pthread_mutex_unlock(&fs->files_lock);
}

void fs_files_free(struct fs *fs)
{
	while (fs->files)
		fs_file_drop(fs, fs->files);
}
