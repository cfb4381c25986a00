/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What chmod, chown and time change, and how long a die's memory is. */
#include "fuse/attr.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "fuse/fs.h"

mode_t fs_default_mode(enum node_kind kind)
{
	switch (kind) {
	case NODE_ROOT:
	case NODE_BY_BDF:
	case NODE_DIE:
	case NODE_COMPUTE:
		return S_IFDIR | 0755;
	case NODE_MEM:
		/* the group may make files, and remove none of others */
		return S_IFDIR | S_ISVTX | 0775;
	case NODE_LINK:
		return S_IFLNK | 0777;
	case NODE_ROOT_STATUS:
	case NODE_METRICS:
	case NODE_TRACE:
	case NODE_STATUS:
	case NODE_COMPUTE_STATUS:
	case NODE_COMPUTE_LOG:
		return S_IFREG | 0444;
	default:
		return S_IFREG | 0660;
	}
}

void fs_attr_init(struct fs *fs)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_init(&fs->attr_lock, NULL);
	for (size_t ino = 0; ino < NODE_TABLE_LEN; ino++) {
		const struct node *n = node_get(&fs->nodes, ino);
		struct fs_attr *a = &fs->attrs[ino];

		if (!n)
			continue;
		a->mode = fs_default_mode(n->kind);
		if (n->kind != NODE_LINK)
			a->mode &= ~fs->opts->umask;
		a->uid = fs->opts->uid;
		a->gid = fs->opts->gid;
		a->atime = a->mtime = a->ctime = now;
	}
}

mode_t fs_without_set_id(mode_t mode)
{
	/* without execution by the group it means mandatory locks */
	return mode & ~(S_ISUID | (mode & S_IXGRP ? S_ISGID : 0));
}

void fs_attr_touch(struct fs *fs, uint64_t ino, uid_t uid)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_lock(&fs->attr_lock);
	fs->attrs[ino].mtime = fs->attrs[ino].ctime = now;
	if (uid != 0)
		fs->attrs[ino].mode = fs_without_set_id(fs->attrs[ino].mode);
	pthread_mutex_unlock(&fs->attr_lock);
}

uint64_t fs_vram_len(const struct fs *fs, const struct node *n)
{
	const struct backend_die *d = &fs->be.dies[n->die];

	return n->kind == NODE_RESMEM ? d->len - d->vram_bytes : d->vram_bytes;
}
