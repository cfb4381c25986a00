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
#include "fuse/change.h"
#include "fuse/compute.h"
#include "fuse/ctl.h"
#include "fuse/dir.h"
#include "fuse/file.h"
#include "fuse/fs.h"
#include "fuse/mem.h"
#include "fuse/share.h"
#include "fuse/status.h"
#include "fuse/uring.h"
#include "fuse/vram.h"
#include "mem/mem.h"
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

/* Of a file in a mem folder: the folder. */
static const struct node *node_of(struct fs *fs, uint64_t ino)
{
	if (mem_is_ino(ino))
		return fs_mem_folder(fs, node_mem_ino(mem_ino_die(ino)));
	return node_get(&fs->nodes, ino);
}

static void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *n = node_of(fs, ino);
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
	ret = fs_file_new(fs, n, ino, fi->flags, fuse_req_ctx(req)->uid, &f);
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
	if (f->mem) {
		fs_mem_read(req, f, size, off, !fi->lock_owner);
	} else if (fs_file_is_memory(f)) {
		/* the kernel names the owner of every read(2), and of no read
		 * that fills the page cache */
		if (!fi->lock_owner)
			fs->has_pages[ino] = true;
		fs_vram_read(req, f, size, off, fi->flags, !fi->lock_owner);
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
	else if (f->mem)
		fs_mem_write(req, f, buf, size, off, fi->flags);
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
	if (f->mem)
		fs_mem_sync(req, f, true);
	else if (fs_file_is_memory(f))
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
	if (f->mem)
		fs_mem_sync(req, f, false);
	else if (fs_file_is_memory(f))
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
	if (f->mem)
		fs_mem_fallocate(req, f, mode, off, len);
	else if (fs_file_is_memory(f))
		fs_vram_fallocate(req, f, mode, off, len);
	else
		fuse_reply_err(req, EOPNOTSUPP);
}

/* of a device's memory */
static bool has_bytes(const struct fs_file *f)
{
	return f->mem || fs_file_is_memory(f);
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
	else if (!has_bytes(in) || !has_bytes(out))
		/* the kernel goes on with read and write */
		fuse_reply_err(req, EOPNOTSUPP);
	else if (in->mem || out->mem)
		fs_mem_copy(req, in, off_in, out, off_out, len);
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
	struct fs_file *f = file_of(fi);
	uint64_t len;

	forget_open(req);
	(void)ino;
	if (f->mem) {
		fs_mem_lseek(req, f, off, whence);
		return;
	}
	len = file_len(fuse_req_userdata(req), f);
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

static void fs_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd,
		     void *arg, struct fuse_file_info *fi, unsigned int flags,
		     const void *in, size_t in_len, size_t out_len)
{
	struct fs_file *f = file_of(fi);

	forget_open(req);
	(void)ino;
	(void)arg;
	(void)flags;
	(void)in;
	(void)in_len;
	(void)out_len;
	if (f->mem)
		fs_share_ioctl(req, f, cmd);
	else
		fuse_reply_err(req, ENOTTY);
}

/* As fuse_reply_create(), with the flag that fs_open() gives. */
static int reply_create(fuse_req_t req, const struct fuse_entry_param *e,
			struct fs_file *f)
{
	const struct stat *st = &e->attr;
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = {
		.entry = {
			.nodeid = e->ino,
			.generation = e->generation,
			.entry_valid = (uint64_t)e->entry_timeout,
			.attr = {
				.ino = st->st_ino,
				.size = (uint64_t)st->st_size,
				.blocks = (uint64_t)st->st_blocks,
				.atime = (uint64_t)st->st_atim.tv_sec,
				.mtime = (uint64_t)st->st_mtim.tv_sec,
				.ctime = (uint64_t)st->st_ctim.tv_sec,
				.atimensec = (uint32_t)st->st_atim.tv_nsec,
				.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
				.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
				.mode = st->st_mode,
				.nlink = (uint32_t)st->st_nlink,
				.uid = st->st_uid,
				.gid = st->st_gid,
				.blksize = (uint32_t)st->st_blksize,
			},
		},
		.open = {
			.fh = (uintptr_t)f,
			.open_flags = FOPEN_DIRECT_IO |
				      FOPEN_PARALLEL_DIRECT_WRITES,
		},
	};

	return fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

static void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		      mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = fuse_req_userdata(req);
	const struct node *dir = fs_mem_folder(fs, parent);
	struct fuse_entry_param e;
	struct fs_file *f = NULL;
	int ret = -EPERM;

	forget_open(req);
	if (dir)
		ret = fs_mem_make(req, dir, name, mode, fi->flags, &e);
	if (ret) {
		fuse_reply_err(req, -ret);
		return;
	}
	ret = fs_file_new(fs, dir, e.ino, fi->flags, fuse_req_ctx(req)->uid, &f);
	if (!ret && !reply_create(req, &e, f))
		return;
	if (ret)
		fuse_reply_err(req, -ret);
	else
		fs_file_drop(fs, f);
	fs_mem_forget(fs, e.ino, 1);
}

static void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	if (mem_is_ino(ino))
		fs_mem_forget(fuse_req_userdata(req), ino, n);
	fuse_reply_none(req);
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
	.ioctl = fs_ioctl,
	.forget = fs_forget,
	.mknod = fs_mknod,
	.mkdir = fs_mkdir,
	.create = fs_create,
	.symlink = fs_symlink,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.rename = fs_rename,
	.link = fs_link,
};
