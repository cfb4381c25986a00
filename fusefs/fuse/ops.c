/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of FUSE operations: which file, which rights, whose function.
 */
#include "fuse/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/compute.h"
#include "fuse/ctl.h"
#include "fuse/dir.h"
#include "fuse/file.h"
#include "fuse/fs.h"
#include "fuse/status.h"
#include "fuse/uring.h"
#include "fuse/vram.h"
#include "text/ctl.h"

/* include/uapi/linux/fuse.h from 6.2 */
#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)
#endif

/* Asynchronous writes at a time, of 1 MiB at most: fewer than what may be kept
 * for those that wait, or a loop device would meet ENOMEM. RELEASE is one of
 * these requests too, see end_lease_early(). */
#define FS_MAX_BACKGROUND 224

static struct fs_file *file_of(const struct fuse_file_info *fi)
{
	return (struct fs_file *)(uintptr_t)fi->fh;
}

static bool is_compute(const struct fs_file *f)
{
	return node_is_compute(f->node);
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;

	/* With it the kernel would set its own size to 0 at O_TRUNC. */
	conn->want &= ~(unsigned int)FUSE_CAP_ATOMIC_O_TRUNC;
	/* Asynchronous readahead is not interrupted with its reader: its pages
	 * would stay locked for as long as it is parked. */
	if (fs->be.ops->has_slot)
		conn->want &= ~(unsigned int)FUSE_CAP_ASYNC_READ;
	/* With it the kernel asks for the attributes before each cached read.
	 * What is written through the mount, it or we invalidate. */
	conn->want &= ~(unsigned int)FUSE_CAP_AUTO_INVAL_DATA;
	/* a file handle is good also of what has gone from the kernel's cache */
	conn->want |= conn->capable & FUSE_CAP_EXPORT_SUPPORT;
	/* requests are read to memory of our own, see fs_loop.c */
	conn->want &= ~(unsigned int)FUSE_CAP_SPLICE_READ;
	fs_uring_init(fs, conn);
	conn->max_write = OPTIONS_MAX_REQUEST;
	conn->max_read = OPTIONS_MAX_REQUEST; /* as in the mount option */
	conn->max_background = FS_MAX_BACKGROUND;
	conn->congestion_threshold = FS_MAX_BACKGROUND * 3 / 4;
}

static void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *n = node_get(&fs->nodes, ino);
	struct fuse_open_out out = { 0 };
	struct fs_file *f;
	int ret;

	if (!n) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	if (node_is_report(n) && (fi->flags & O_ACCMODE) != O_RDONLY) {
		fuse_reply_err(req, EACCES);
		return;
	}
	ret = fs_file_new(fs, n, fi->flags, fuse_req_ctx(req)->uid, &f);
	if (ret) {
		fuse_reply_err(req, -ret);
		return;
	}
	if (fs_file_is_memory(f) && (fi->flags & O_ACCMODE) != O_RDONLY)
		fs_pair_add(&fs->pairs, &f->pair, req, ino);
	else
		fs_pair_forget(&fs->pairs, req);
	/* By hand: fuse_file_info of libfuse 3.10 to 3.14 lacks the flag of
	 * parallel writes, without which a parked write locks the others. */
	out.fh = (uintptr_t)f;
	if (fs->opts->cache && fs_file_is_memory(f))
		fs->has_pages[ino] = true;
	else
		out.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
	if (fuse_reply_buf(req, (const char *)&out, sizeof(out)))
		fs_file_drop(fs, f);
}

static void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fs_file_close(fuse_req_userdata(req), file_of(fi));
	fuse_reply_err(req, 0);
}

static const char *help_of(const struct fs_file *f)
{
	return ctl_help(f->node->die < 0 ? CTL_SCOPE_ROOT : CTL_SCOPE_DIE);
}

static void reply_text(fuse_req_t req, const char *text, size_t len,
		       size_t size, off_t off)
{
	if (off < 0 || (uint64_t)off >= len)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, text + off,
			       min_u64(size, len - (uint64_t)off));
}

/* Whatever else a thread asks for, its next SETATTR is not of its open. */
static void forget_open(fuse_req_t req)
{
	struct fs *fs = fuse_req_userdata(req);

	fs_pair_forget(&fs->pairs, req);
}

static void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	struct fs_file *f = file_of(fi);
	const char *text;

	forget_open(req);
	if (fs_file_is_memory(f)) {
		/* the kernel names the owner of every read(2), and of no read
		 * that fills the page cache */
		if (!fi->lock_owner)
			fs->has_pages[ino] = true;
		fs_vram_read(req, f, size, off, fi->flags);
	} else if (is_compute(f)) {
		fs_compute_read(req, f, size, off, fi->flags);
	} else if (fs_file_is_text(f)) {
		char copy[FS_TEXT_MAX];
		size_t len;

		if (off == 0)
			fs_file_snapshot(fs, f);
		pthread_mutex_lock(&f->text_lock);
		len = f->text_len;
		memcpy(copy, f->text, len);
		pthread_mutex_unlock(&f->text_lock);
		reply_text(req, copy, len, size, off);
	} else if (f->node->kind == NODE_TRACE) {
		reply_text(req, f->text, f->text_len, size, off);
	} else {
		text = help_of(f);
		reply_text(req, text, strlen(text), size, off);
	}
}

static void fs_write(fuse_req_t req, fuse_ino_t ino, const char *buf,
		     size_t size, off_t off, struct fuse_file_info *fi)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	if (!size)
		fuse_reply_write(req, 0);
	else if (fs_file_is_memory(f))
		/* the page cache has no flags of its own */
		fs_vram_write(req, f, buf, size, off,
			      fi->writepage ? 0 : fi->flags);
	else if (is_compute(f))
		fs_compute_write(req, f, buf, size, off, fi->flags);
	else {
		f->was_written = true;
		fs_ctl_write(req, f, buf, size, fi->flags);
	}
}

/*
 * A lease ends with its last descriptor, but RELEASE waits behind asynchronous
 * requests, which may wait for just that lease. When so many wait that this may
 * be so, the FLUSH of whoever took it counts as the end. A shell sends one after
 * each command that it writes, too: those are told by the WRITE before them.
 */
static void end_lease_early(fuse_req_t req, struct fs_file *f)
{
	struct fs *fs = fuse_req_userdata(req);
	bool was_written = atomic_exchange(&f->was_written, false);
	struct sched_view view;
	uint32_t n_waiting = 0;

	if (was_written || f->hold.die < 0 ||
	    fuse_req_ctx(req)->pid != f->hold.pid)
		return;
	for (unsigned int die = 0; die < fs->be.n_dies; die++) {
		sched_view(fs->io.sched, die, &view);
		n_waiting += view.waiters;
	}
	if (n_waiting >= FS_MAX_BACKGROUND / 2)
		sched_drop(fs->io.sched, &f->hold);
}

static void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	if (fs_file_is_memory(f))
		fs_vram_sync(req, f, true);
	else if (is_compute(f))
		fs_compute_flush(req, f);
	else if (!node_is_report(f->node)) {
		end_lease_early(req, f);
		fs_ctl_flush(req, f);
	} else {
		fuse_reply_err(req, 0);
	}
}

static void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
		     struct fuse_file_info *fi)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	(void)datasync;
	if (fs_file_is_memory(f))
		fs_vram_sync(req, f, false);
	else
		fuse_reply_err(req, 0);
}

static void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync,
			struct fuse_file_info *fi)
{
	forget_open(req);
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, 0);
}

static void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off,
			 off_t len, struct fuse_file_info *fi)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	if (fs_file_is_memory(f))
		fs_vram_fallocate(req, f, mode, off, len);
	else
		fuse_reply_err(req, EOPNOTSUPP);
}

static void fs_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
			       struct fuse_file_info *fi_in, fuse_ino_t ino_out,
			       off_t off_out, struct fuse_file_info *fi_out,
			       size_t len, int flags)
{
	struct fs_file *in = file_of(fi_in), *out = file_of(fi_out);

	forget_open(req);
	(void)ino_in;
	(void)ino_out;
	if (flags)
		fuse_reply_err(req, EINVAL);
	else if (!fs_file_is_memory(in) || !fs_file_is_memory(out))
		/* the kernel goes on with read and write */
		fuse_reply_err(req, EOPNOTSUPP);
	else
		fs_vram_copy(req, in, off_in, out, off_out, len);
}

/* How long what can be read of it is. */
static uint64_t file_len(struct fs *fs, struct fs_file *f)
{
	uint64_t len;

	if (fs_file_is_memory(f))
		return f->io.len;
	if (is_compute(f))
		return fs_compute_len(fs, f->node);
	if (!f->text)
		return strlen(help_of(f));
	pthread_mutex_lock(&f->text_lock);
	len = f->text_len;
	pthread_mutex_unlock(&f->text_lock);
	return len;
}

static void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence,
		     struct fuse_file_info *fi)
{
	uint64_t len = file_len(fuse_req_userdata(req), file_of(fi));

	forget_open(req);
	(void)ino;
	if (off < 0 || (uint64_t)off >= len)
		fuse_reply_err(req, ENXIO);
	else if (whence == SEEK_DATA)
		fuse_reply_lseek(req, off);
	else if (whence == SEEK_HOLE)
		fuse_reply_lseek(req, (off_t)len);
	else
		fuse_reply_err(req, EINVAL);
}

static void fs_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *ph)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	if (fs_file_is_status(f)) {
		fs_status_poll(req, f, ph);
		return;
	}
	if (ph)
		fuse_pollhandle_destroy(ph);
	fuse_reply_poll(req, POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
}

/* The tree is what the hardware is: nothing is made, renamed or removed. */
static void fs_deny_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
			  mode_t mode, dev_t rdev)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)rdev;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
			  mode_t mode)
{
	(void)parent;
	(void)name;
	(void)mode;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_create(fuse_req_t req, fuse_ino_t parent, const char *name,
			   mode_t mode, struct fuse_file_info *fi)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)fi;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_symlink(fuse_req_t req, const char *target,
			    fuse_ino_t parent, const char *name)
{
	(void)target;
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_remove(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
			   fuse_ino_t newparent, const char *newname,
			   unsigned int flags)
{
	(void)parent;
	(void)name;
	(void)newparent;
	(void)newname;
	(void)flags;
	fuse_reply_err(req, EPERM);
}

static void fs_deny_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent,
			 const char *newname)
{
	(void)ino;
	(void)newparent;
	(void)newname;
	fuse_reply_err(req, EPERM);
}

const struct fuse_lowlevel_ops fs_ops = {
	.init = fs_init,
	.lookup = fs_lookup,
	.getattr = fs_getattr,
	.setattr = fs_setattr,
	.readlink = fs_readlink,
	.readdir = fs_readdir,
	.statfs = fs_statfs,
	.open = fs_open,
	.release = fs_release,
	.read = fs_read,
	.write = fs_write,
	.flush = fs_flush,
	.fsync = fs_fsync,
	.fsyncdir = fs_fsyncdir,
	.fallocate = fs_fallocate,
	.copy_file_range = fs_copy_file_range,
	.lseek = fs_lseek,
	.poll = fs_poll,
	.mknod = fs_deny_mknod,
	.mkdir = fs_deny_mkdir,
	.create = fs_deny_create,
	.symlink = fs_deny_symlink,
	.unlink = fs_deny_remove,
	.rmdir = fs_deny_remove,
	.rename = fs_deny_rename,
	.link = fs_deny_link,
};
