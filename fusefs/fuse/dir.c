/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and attributes. Nothing here waits for hardware.
 */
#include "fuse/dir.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/call.h"
#include "fuse/compute.h"
#include "fuse/fs.h"
#include "fuse/handle.h"
#include "fuse/inval.h"
#include "fuse/mem.h"
#include "fuse/metrics.h"
#include "fuse/status.h"
#include "fuse/trace.h"
#include "fuse/uring.h"
#include "fuse/vram.h"
#include "mem/mem.h"
#include "text/ctl.h"
#include "text/metrics.h"

#define ENTRY_TIMEOUT_S 3600.0 /* the tree never changes */
#define VRAM_BLKSIZE    ((blksize_t)1 << 20)
#define STATFS_BSIZE    4096
#define STATFS_NAMEMAX  255

static uint64_t node_len(struct fs *fs, const struct node *n)
{
	char text[METRICS_MAX];

	_Static_assert(METRICS_MAX >= STATUS_MAX, "room for either");

	if (node_is_compute(n))
		return fs_compute_len(fs, n);
	switch (n->kind) {
	case NODE_VRAM:
	case NODE_RESMEM:
		return fs_vram_len(fs, n);
	case NODE_ROOT_STATUS:
	case NODE_STATUS:
		return fs_status_text(fs, n->die, text);
	case NODE_METRICS:
		return fs_metrics_text(fs, text);
	case NODE_TRACE:
		return fs_trace_len();
	case NODE_ROOT_CTL:
		return strlen(ctl_help(CTL_SCOPE_ROOT));
	case NODE_CTL:
		return strlen(ctl_help(CTL_SCOPE_DIE));
	case NODE_LINK:
		return strlen(n->target);
	default:
		return 0;
	}
}

static nlink_t count_folders(struct fs *fs, const struct node *dir)
{
	const struct node *n;
	nlink_t count = 0;
	size_t pos = 0;

	while ((n = node_next(&fs->nodes, dir, &pos)))
		count += node_is_dir(n);
	return count;
}

/* Returns how long the kernel may keep it, in seconds. */
static double fill_stat(struct fs *fs, const struct node *n, struct stat *st)
{
	const struct fs_attr *a = &fs->attrs[n->ino];

	if (n->kind == NODE_STATUS || n->kind == NODE_ROOT_STATUS)
		fs_status_note(fs, n);
	memset(st, 0, sizeof(*st));
	st->st_ino = n->ino;
	st->st_nlink = 1;
	if (node_is_dir(n))
		st->st_nlink = 2 + count_folders(fs, n);
	st->st_size = (off_t)node_len(fs, n);
	st->st_blocks = st->st_size / 512;
	st->st_blksize = n->kind == NODE_VRAM || n->kind == NODE_RESMEM ||
					 n->kind == NODE_COMPUTE_IN ||
					 n->kind == NODE_COMPUTE_OUT
				 ? VRAM_BLKSIZE
				 : (blksize_t)STATFS_BSIZE;
	pthread_mutex_lock(&fs->attr_lock);
	st->st_mode = a->mode;
	st->st_uid = a->uid;
	st->st_gid = a->gid;
	st->st_atim = a->atime;
	st->st_mtim = a->mtime;
	st->st_ctim = a->ctime;
	pthread_mutex_unlock(&fs->attr_lock);

	/* what changes without the kernel knowing: texts, times of writing */
	return node_is_dir(n) || n->kind == NODE_LINK ? ENTRY_TIMEOUT_S : 0.0;
}

static void fill_entry(struct fs *fs, const struct node *n,
		       struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	e->ino = n->ino;
	e->generation = fs_handle_generation(fs, n);
	e->attr_timeout = fill_stat(fs, n, &e->attr);
	e->entry_timeout = ENTRY_TIMEOUT_S;
}

/* The dots are asked for of what has gone from the kernel's cache: by number,
 * be it a folder or not. */
static const struct node *find(struct fs *fs, const struct node *dir,
			       const char *name)
{
	if (!strcmp(name, "."))
		return dir;
	if (!strcmp(name, ".."))
		return node_get(&fs->nodes, dir->parent);
	return node_find(&fs->nodes, dir, name);
}

void fs_lookup(fuse_req_t req, uint64_t parent, const char *name)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *dir = node_get(&fs->nodes, parent);
	const struct node *n = dir ? find(fs, dir, name) : NULL;
	struct fuse_entry_param e;

	fs->is_agreed = true;
	fs_pair_forget(&fs->pairs, req);
	fs_uring_note(fs, req);
	if (mem_is_ino(parent)) {
		fs_mem_lookup_ino(req, parent, name);
		return;
	}
	if (!n && dir && dir->kind == NODE_MEM) {
		fs_mem_lookup(req, dir, name);
		return;
	}
	if (!n) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill_entry(fs, n, &e);
	fuse_reply_entry(req, &e);
}

void fs_getattr(fuse_req_t req, uint64_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *n = node_get(&fs->nodes, ino);
	struct stat st;
	double timeout;

	fs_pair_forget(&fs->pairs, req);
	(void)fi;
	if (mem_is_ino(ino)) {
		fs_mem_getattr(req, ino);
		return;
	}
	if (!n) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	timeout = fill_stat(fs, n, &st);
	fuse_reply_attr(req, &st, timeout);
}

/* Sizes are fixed: what fits is accepted and changes nothing. */
static int check_size(struct fs *fs, const struct node *n, off_t size)
{
	switch (n->kind) {
	case NODE_VRAM:
	case NODE_RESMEM:
		return (uint64_t)size > fs_vram_len(fs, n) ? EFBIG : 0;
	case NODE_COMPUTE_IN:
	case NODE_COMPUTE_OUT:
		return (uint64_t)size > fs_compute_len(fs, n) ? EFBIG : 0;
	default:
		return node_is_report(n) ? EACCES : 0;
	}
}

static void answer_attr(struct fuse_req *req, uint64_t ino)
{
	fs_getattr(req, ino, NULL);
}

static void set_size(struct fs *fs, fuse_req_t req, struct fs_file *f,
		     uint64_t size)
{
	fs_inval_answer(fs, f->node->ino, fs_vram_resize(fs, f, size), size,
			req, answer_attr);
}

static void on_cleared(struct fs_call *call, ssize_t result, const void *data)
{
	struct fs_file *f = container_of(call->io.file, struct fs_file, io);

	(void)data;
	if (result < 0) {
		fuse_reply_err(call->req, (int)-result);
		return;
	}
	set_size(call->fs, call->req, f, call->io.off);
}

/* What reads as zeros now must not show old bytes when the image ends before
 * it: it is cleared first. */
static void clear_first(fuse_req_t req, struct fs_file *f, uint64_t size)
{
	struct fs_call *call = fs_call_new(req, IO_CLEAR, &f->io);

	if (!call) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	call->io.off = size;
	call->reply = on_cleared;
	fs_call_arm(call);
	fs_call_submit(call);
}

static void resize(fuse_req_t req, struct fs_file *f, uint64_t size)
{
	struct fs *fs = fuse_req_userdata(req);

	if (image_has_holes(&fs->io.images, &f->io.image))
		clear_first(req, f, size);
	else
		set_size(fs, req, f, size);
}

/* The open file that a SETATTR is about, NULL for none. */
static struct fs_file *file_to_resize(fuse_req_t req, const struct node *n,
				      int mask, off_t size,
				      struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	bool is_size = mask & FUSE_SET_ATTR_SIZE;
	struct fs_pair *pair =
		fs_pair_take(&fs->pairs, req, n->ino, is_size && !size && !fi);

	if (!is_size || (n->kind != NODE_VRAM && n->kind != NODE_RESMEM))
		return NULL;
	if (fi)
		return (struct fs_file *)(uintptr_t)fi->fh;
	return pair ? container_of(pair, struct fs_file, pair) : NULL;
}

void fs_setattr(fuse_req_t req, uint64_t ino, struct stat *st, int mask,
		struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *n = node_get(&fs->nodes, ino);
	struct fs_attr *a = &fs->attrs[n ? ino : 0];
	struct timespec now;
	struct fs_file *f;
	int err;

	if (mem_is_ino(ino)) {
		fs_pair_forget(&fs->pairs, req);
		fs_mem_setattr(req, ino, st, mask);
		return;
	}
	if (!n) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	f = file_to_resize(req, n, mask, st->st_size, fi);
	if (mask & FUSE_SET_ATTR_SIZE) {
		err = check_size(fs, n, st->st_size);
		if (err) {
			fuse_reply_err(req, err);
			return;
		}
	}
	clock_gettime(CLOCK_REALTIME, &now);
	pthread_mutex_lock(&fs->attr_lock);
	if (mask & FUSE_SET_ATTR_MODE)
		a->mode = (a->mode & S_IFMT) | (st->st_mode & 07777);
	if ((mask & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) ||
	    ((mask & FUSE_SET_ATTR_SIZE) && fuse_req_ctx(req)->uid != 0))
		if (S_ISREG(a->mode) && !(mask & FUSE_SET_ATTR_MODE))
			a->mode = fs_without_set_id(a->mode);
	if (mask & FUSE_SET_ATTR_UID)
		a->uid = st->st_uid;
	if (mask & FUSE_SET_ATTR_GID)
		a->gid = st->st_gid;
	if (mask & FUSE_SET_ATTR_ATIME)
		a->atime = mask & FUSE_SET_ATTR_ATIME_NOW ? now : st->st_atim;
	if (mask & FUSE_SET_ATTR_MTIME)
		a->mtime = mask & FUSE_SET_ATTR_MTIME_NOW ? now : st->st_mtim;
	if (mask & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID |
		    FUSE_SET_ATTR_MTIME))
		a->ctime = now;
	pthread_mutex_unlock(&fs->attr_lock);
	if (f)
		resize(req, f, (uint64_t)st->st_size);
	else
		fs_getattr(req, ino, fi);
}

void fs_readlink(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *n = node_get(&fs->nodes, ino);

	fs_pair_forget(&fs->pairs, req);
	if (!n || n->kind != NODE_LINK)
		fuse_reply_err(req, EINVAL);
	else
		fuse_reply_readlink(req, n->target);
}

/* The cursor of an entry is its inode number plus 2; 1 and 2 are the dots. */
void fs_readdir(fuse_req_t req, uint64_t ino, size_t size, off_t off,
		struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *dir = node_get(&fs->nodes, ino);
	const struct node *n;
	struct stat st = { 0 };
	size_t used = 0, pos;
	char *buf;

	fs_pair_forget(&fs->pairs, req);
	(void)fi;
	if (!dir || !node_is_dir(dir)) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	if (dir->kind == NODE_MEM) {
		fs_mem_readdir(req, dir, size, off);
		return;
	}
	buf = malloc(size);
	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (; off < 2; off++) {
		size_t need;

		st.st_ino = off ? dir->parent : dir->ino;
		st.st_mode = S_IFDIR;
		need = fuse_add_direntry(req, buf + used, size - used,
					 off ? ".." : ".", &st, off + 1);
		if (need > size - used)
			goto out;
		used += need;
	}
	pos = (size_t)off - 2;
	while ((n = node_next(&fs->nodes, dir, &pos))) {
		size_t need;

		st.st_ino = n->ino;
		st.st_mode = fs_default_mode(n->kind);
		need = fuse_add_direntry(req, buf + used, size - used, n->name,
					 &st, (off_t)n->ino + 2);
		if (need > size - used)
			break;
		used += need;
	}
out:
	fuse_reply_buf(req, buf, used);
	free(buf);
}

void fs_statfs(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fuse_req_userdata(req);
	struct statvfs sv = {
		.f_bsize = STATFS_BSIZE,
		.f_frsize = STATFS_BSIZE,
		.f_namemax = STATFS_NAMEMAX,
	};

	fs_pair_forget(&fs->pairs, req);
	if (mem_is_ino(ino)) {
		fs_mem_statfs(req, mem_ino_die(ino));
		return;
	}
	if (fs_mem_folder(fs, ino)) {
		fs_mem_statfs(req, (unsigned int)fs_mem_folder(fs, ino)->die);
		return;
	}
	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		sv.f_blocks += fs->be.dies[die].len / STATFS_BSIZE;
	for (uint64_t i = 0; i < NODE_TABLE_LEN; i++)
		sv.f_files += node_get(&fs->nodes, i) != NULL;
	fuse_reply_statfs(req, &sv);
}
