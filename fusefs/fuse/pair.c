/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/pair.h"

#include <fuse_lowlevel.h>
#include <stdio.h>
#include <string.h>

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

static struct fs_pair **bucket_of(struct fs_pairs *all, pid_t pid)
{
	return &all->buckets[(unsigned int)pid % FS_PAIR_BUCKETS];
}

static struct fs_pair *take_locked(struct fs_pairs *all, pid_t pid)
{
	struct fs_pair **link = bucket_of(all, pid), *pair;

	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	pair = *link;
	if (pair) {
		*link = pair->next;
		pair->pid = 0;
		all->n--;
	}
	return pair;
}

void fs_pair_add(struct fs_pairs *all, struct fs_pair *pair, fuse_req_t req,
		 uint64_t ino)
{
	pid_t pid = fuse_req_ctx(req)->pid;
	struct fs_pair **head = bucket_of(all, pid);

	/* of another namespace: nobody can be told from anybody */
	if (!pid)
		return;
	pthread_mutex_lock(&all->lock);
	take_locked(all, pid);
	pair->pid = pid;
	pair->ino = ino;
	pair->next = *head;
	*head = pair;
	all->n++;
	pthread_mutex_unlock(&all->lock);
}

void fs_pair_forget(struct fs_pairs *all, fuse_req_t req)
{
	if (!all->n)
		return;
	pthread_mutex_lock(&all->lock);
	take_locked(all, fuse_req_ctx(req)->pid);
	pthread_mutex_unlock(&all->lock);
}

void fs_pair_remove(struct fs_pairs *all, struct fs_pair *pair)
{
	pthread_mutex_lock(&all->lock);
	if (pair->pid)
		take_locked(all, pair->pid);
	pthread_mutex_unlock(&all->lock);
}

/* PID (COMM) STATE PPID PGRP SESSION TTY TPGID FLAGS; COMM may be anything */
static bool is_kernel_thread(pid_t pid)
{
	char path[32], text[512];
	unsigned int flags = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return false;
	return flags & PF_KTHREAD;
}

struct fs_pair *fs_pair_take(struct fs_pairs *all, fuse_req_t req, uint64_t ino,
			     bool is_trunc)
{
	pid_t pid = fuse_req_ctx(req)->pid;
	struct fs_pair *pair;

	pthread_mutex_lock(&all->lock);
	pair = take_locked(all, pid);
	pthread_mutex_unlock(&all->lock);
	if (!pair || !is_trunc || pair->ino != ino || is_kernel_thread(pid))
		return NULL;
	return pair;
}
