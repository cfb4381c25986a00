/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names and attributes of mem files. Their folder is flat: what would be
 * anything but a plain file in it is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/fs.h"
#include "fuse/handle.h"
#include "fuse/mem.h"
#include "mem/mem.h"

#define ENTRY_TIMEOUT_S 3600.0 /* names change by requests alone */
#define BLKSIZE         ((blksize_t)1 << 20)
#define STATFS_BSIZE    4096
#define FILE_LEAST      (2 * MIB) /* of memory, once there is something in it */
#define DOTS            2 /* entries of a folder before its files */

const struct node *fs_mem_folder(struct fs *fs, uint64_t ino)
{
	const struct node *n = node_get(&fs->nodes, ino);

	return n && n->kind == NODE_MEM ? n : NULL;
}

static void fill_stat(struct mem_file *f, struct stat *st)
{
	struct mem_stat s;

	mem_stat(f, &s);
	memset(st, 0, sizeof(*st));
	st->st_ino = s.ino;
	st->st_mode = s.mode;
	st->st_nlink = s.nlink;
	st->st_uid = s.uid;
	st->st_gid = s.gid;
	st->st_size = (off_t)s.len;
	st->st_blocks = (blkcnt_t)(s.bytes_taken / 512);
	st->st_blksize = BLKSIZE;
	st->st_atim = s.atime;
	st->st_mtim = s.mtime;
	st->st_ctim = s.ctime;
}

/* Attributes are asked for each time: what is written changes them. */
static void fill_entry(fuse_req_t req, struct mem_file *f,
		       struct fuse_entry_param *e)
{
	const struct fs *fs = fuse_req_userdata(req);

	memset(e, 0, sizeof(*e));
	e->ino = mem_ino(f);
	e->generation = fs->generations[mem_die(f)];
	e->entry_timeout = ENTRY_TIMEOUT_S;
	fill_stat(f, &e->attr);
}

/* The entry counts on the file, as the caller has done. */
static void reply_entry(fuse_req_t req, struct mem_file *f)
{
	struct fuse_entry_param e;

	fill_entry(req, f, &e);
	if (fuse_reply_entry(req, &e))
		mem_put(f);
}

void fs_mem_lookup(fuse_req_t req, const struct node *dir, const char *name)
{
	struct fs *fs = fuse_req_userdata(req);
	struct mem_file *f;
	int ret = mem_lookup(fs->mem, (unsigned int)dir->die, name, &f);

	if (ret)
		fuse_reply_err(req, -ret);
	else
		reply_entry(req, f);
}

static void reply_folder(fuse_req_t req, const struct node *n)
{
	struct fs *fs = fuse_req_userdata(req);
	struct fuse_entry_param e = {
		.ino = n->ino,
		.generation = fs_handle_generation(fs, n),
		.attr = {
			.st_ino = n->ino,
			.st_nlink = 2,
			.st_blksize = STATFS_BSIZE,
		},
	};

	pthread_mutex_lock(&fs->attr_lock);
	e.attr.st_mode = fs->attrs[n->ino].mode;
	e.attr.st_uid = fs->attrs[n->ino].uid;
	e.attr.st_gid = fs->attrs[n->ino].gid;
	e.attr.st_atim = fs->attrs[n->ino].atime;
	e.attr.st_mtim = fs->attrs[n->ino].mtime;
	e.attr.st_ctim = fs->attrs[n->ino].ctime;
	pthread_mutex_unlock(&fs->attr_lock);
	fuse_reply_entry(req, &e);
}

/* The dots are asked for of what has gone from the kernel's cache. */
void fs_mem_lookup_ino(fuse_req_t req, uint64_t ino, const char *name)
{
	struct fs *fs = fuse_req_userdata(req);
	struct mem_file *f = fs->mem ? mem_get(fs->mem, ino) : NULL;
	const struct node *dir;

	if (!f) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	if (!strcmp(name, ".")) {
		reply_entry(req, f);
		return;
	}
	dir = fs_mem_folder(fs, node_mem_ino(mem_die(f)));
	mem_put(f);
	if (dir && !strcmp(name, ".."))
		reply_folder(req, dir);
	else
		fuse_reply_err(req, ENOTDIR);
}

void fs_mem_forget(struct fs *fs, uint64_t ino, uint64_t n)
{
	struct mem_file *f = mem_get(fs->mem, ino);

	if (f)
		mem_put_many(f, n + 1);
}

static gid_t group_of(fuse_req_t req, const struct node *dir)
{
	struct fs *fs = fuse_req_userdata(req);
	gid_t gid = fuse_req_ctx(req)->gid;

	pthread_mutex_lock(&fs->attr_lock);
	if (fs->attrs[dir->ino].mode & S_ISGID)
		gid = fs->attrs[dir->ino].gid;
	pthread_mutex_unlock(&fs->attr_lock);
	return gid;
}

static int make(fuse_req_t req, const struct node *dir, const char *name,
		mode_t mode, bool excl, struct mem_file **out)
{
	struct fs *fs = fuse_req_userdata(req);
	int ret;

	if (!S_ISREG(mode) && (mode & S_IFMT))
		return -EPERM;
	ret = mem_create(fs->mem, (unsigned int)dir->die, name, mode,
			 fuse_req_ctx(req)->uid, group_of(req, dir), excl, out);
	if (!ret)
		fs_attr_touch(fs, dir->ino, 0);
	return ret;
}

void fs_mem_mknod(fuse_req_t req, const struct node *dir, const char *name,
		  mode_t mode)
{
	struct mem_file *f;
	int ret = make(req, dir, name, mode, true, &f);

	if (ret)
		fuse_reply_err(req, -ret);
	else
		reply_entry(req, f);
}

int fs_mem_make(fuse_req_t req, const struct node *dir, const char *name,
		mode_t mode, int flags, struct fuse_entry_param *e)
{
	struct mem_file *f;
	int ret = make(req, dir, name, mode, flags & O_EXCL, &f);

	if (ret)
		return ret;
	fill_entry(req, f, e);
	return 0;
}

void fs_mem_unlink(fuse_req_t req, const struct node *dir, const char *name)
{
	struct fs *fs = fuse_req_userdata(req);
	int ret = mem_unlink(fs->mem, (unsigned int)dir->die, name);

	if (!ret)
		fs_attr_touch(fs, dir->ino, 0);
	fuse_reply_err(req, -ret);
}

void fs_mem_rename(fuse_req_t req, const struct node *dir, const char *name,
		   const struct node *new_dir, const char *new_name,
		   unsigned int flags)
{
	struct fs *fs = fuse_req_userdata(req);
	int ret;

	/* the memory of one device is not another's */
	if (dir != new_dir) {
		fuse_reply_err(req, EXDEV);
		return;
	}
	ret = mem_rename(fs->mem, (unsigned int)dir->die, name, new_name, flags);
	if (!ret)
		fs_attr_touch(fs, dir->ino, 0);
	fuse_reply_err(req, -ret);
}

static bool add_entry(fuse_req_t req, char *buf, size_t size, size_t *used,
		      const char *name, const struct stat *st, off_t next)
{
	size_t need = fuse_add_direntry(req, buf + *used, size - *used, name,
					st, next);

	if (need > size - *used)
		return false;
	*used += need;
	return true;
}

static void add_files(fuse_req_t req, const struct node *dir, char *buf,
		      size_t size, off_t off, size_t *used)
{
	uint64_t cursor = off > DOTS ? (uint64_t)off - DOTS : 0, ino;
	struct fs *fs = fuse_req_userdata(req);
	struct stat st = { .st_mode = S_IFREG };
	char name[MEM_NAME_MAX + 1];

	while (mem_next(fs->mem, (unsigned int)dir->die, &cursor, name, &ino)) {
		st.st_ino = ino;
		if (!add_entry(req, buf, size, used, name, &st,
			       (off_t)cursor + DOTS))
			return;
	}
}

/* The cursor of a file is its number in its pool, behind the dots. */
void fs_mem_readdir(fuse_req_t req, const struct node *dir, size_t size, off_t off)
{
	struct stat st = { .st_mode = S_IFDIR };
	char *buf = malloc(size);
	bool has_room = true;
	size_t used = 0;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (; has_room && off < DOTS; off++) {
		st.st_ino = off ? dir->parent : dir->ino;
		has_room = add_entry(req, buf, size, &used, off ? ".." : ".",
				     &st, off + 1);
	}
	if (has_room)
		add_files(req, dir, buf, size, off, &used);
	fuse_reply_buf(req, buf, used);
	free(buf);
}

void fs_mem_statfs(fuse_req_t req, unsigned int die)
{
	struct fs *fs = fuse_req_userdata(req);
	struct statvfs sv = {
		.f_bsize = STATFS_BSIZE,
		.f_frsize = STATFS_BSIZE,
		.f_namemax = MEM_NAME_MAX,
	};
	uint64_t total, left;
	struct mem_view view;
	int ret = mem_space(fs->mem, die, &total, &left);

	if (ret) {
		fuse_reply_err(req, -ret);
		return;
	}
	mem_view(fs->mem, die, &view);
	sv.f_blocks = total / STATFS_BSIZE;
	sv.f_bfree = sv.f_bavail = left / STATFS_BSIZE;
	sv.f_ffree = sv.f_favail = left / FILE_LEAST;
	sv.f_files = view.files + sv.f_ffree;
	fuse_reply_statfs(req, &sv);
}

void fs_mem_getattr(fuse_req_t req, uint64_t ino)
{
	struct fs *fs = fuse_req_userdata(req);
	struct mem_file *f = mem_get(fs->mem, ino);
	struct stat st;

	if (!f) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill_stat(f, &st);
	mem_put(f);
	fuse_reply_attr(req, &st, 0.0);
}

/* What chmod, chown and utimens want; @s: as it is, and as it is to be. */
static unsigned int decode(fuse_req_t req, const struct stat *st, int mask,
			   struct mem_stat *s)
{
	static const int owner = FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID;
	bool is_written =
		(mask & FUSE_SET_ATTR_SIZE) && fuse_req_ctx(req)->uid != 0;
	mode_t without = fs_without_set_id(s->mode);
	struct timespec now;
	unsigned int what = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (mask & FUSE_SET_ATTR_MODE) {
		s->mode = st->st_mode;
		what |= MEM_SET_MODE;
	} else if (((mask & owner) || is_written) && without != s->mode) {
		s->mode = without;
		what |= MEM_SET_MODE;
	}
	if (mask & FUSE_SET_ATTR_UID) {
		s->uid = st->st_uid;
		what |= MEM_SET_UID;
	}
	if (mask & FUSE_SET_ATTR_GID) {
		s->gid = st->st_gid;
		what |= MEM_SET_GID;
	}
	if (mask & FUSE_SET_ATTR_ATIME) {
		s->atime = mask & FUSE_SET_ATTR_ATIME_NOW ? now : st->st_atim;
		what |= MEM_SET_ATIME;
	}
	if (mask & FUSE_SET_ATTR_MTIME) {
		s->mtime = mask & FUSE_SET_ATTR_MTIME_NOW ? now : st->st_mtim;
		what |= MEM_SET_MTIME;
	}
	return what;
}

static int change(fuse_req_t req, struct mem_file *f, const struct stat *st,
		  int mask)
{
	struct mem_stat s;
	unsigned int what;
	int ret;

	if (mask & FUSE_SET_ATTR_SIZE) {
		ret = mem_truncate(f, (uint64_t)st->st_size);
		if (ret)
			return ret;
	}
	mem_stat(f, &s);
	what = decode(req, st, mask, &s);
	return what ? mem_setattr(f, &s, what) : 0;
}

void fs_mem_setattr(fuse_req_t req, uint64_t ino, const struct stat *st, int mask)
{
	struct fs *fs = fuse_req_userdata(req);
	struct mem_file *f = mem_get(fs->mem, ino);
	struct stat now;
	int ret;

	if (!f) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	ret = change(req, f, st, mask);
	fill_stat(f, &now);
	mem_put(f);
	if (ret)
		fuse_reply_err(req, -ret);
	else
		fuse_reply_attr(req, &now, 0.0);
}
