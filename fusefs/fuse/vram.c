/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vram and resmem: decode, clamp, submit, one reply.
 */
#include "fuse/vram.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/util.h"
#include "fuse/call.h"
#include "fuse/fs.h"
#include "fuse/inval.h"

static void reply_err(struct fs_call *call, ssize_t result)
{
	log_debug("die=%u op %d: errno %zd", call->io.die, call->io.op, -result);
	fuse_reply_err(call->req, (int)-result);
}

static void reply_read(struct fs_call *call, ssize_t result, const void *data)
{
	if (result < 0)
		reply_err(call, result);
	else
		fuse_reply_buf(call->req, data, (size_t)result);
}

static void reply_count(struct fs_call *call, ssize_t result, const void *data)
{
	(void)data;
	if (result < 0)
		reply_err(call, result);
	else
		fuse_reply_write(call->req, (size_t)result);
}

static void reply_plain(struct fs_call *call, ssize_t result, const void *data)
{
	(void)data;
	if (result < 0)
		reply_err(call, result);
	else
		fuse_reply_err(call->req, 0);
}

static void answer_done(struct fuse_req *req, uint64_t ino)
{
	(void)ino;
	fuse_reply_err(req, 0);
}

/* All of the memory is there already; a new image may end later now. */
static void make_longer(fuse_req_t req, struct fs_file *f, uint64_t end)
{
	struct fs *fs = fuse_req_userdata(req);
	uint64_t from = image_set_end(&fs->io.images, &f->io.image,
				      f->io.base + end, true);

	readahead_touch(&fs->io.ra, f->io.die);
	fs_inval_answer(fs, f->node->ino, from - f->io.base, end, req,
			answer_done);
}

static struct fs_call *new_call(fuse_req_t req, enum io_op op, struct fs_file *f)
{
	struct fs_call *call = fs_call_new(req, op, &f->io);

	if (!call)
		fuse_reply_err(req, ENOMEM);
	return call;
}

/* Nothing of a die that was reset since, not even its end. */
static bool refuse_stale(fuse_req_t req, const struct fs_file *f)
{
	struct fs *fs = fuse_req_userdata(req);

	if (!io_is_stale(&fs->io, &f->io))
		return false;
	fuse_reply_err(req, ESTALE);
	return true;
}

/* Those of open may have been changed since, and writes have flags of their
 * own; what only the page cache wants has none. */
static void take_flags(struct io *io, int flags)
{
	io->req.nowait = flags & O_NONBLOCK;
	io->direct = flags & O_DIRECT;
	io->sync = io->file->sync || (flags & (O_SYNC | O_DSYNC));
}

void fs_vram_read(fuse_req_t req, struct fs_file *f, size_t size, off_t off,
		  int flags, bool fills)
{
	uint64_t at = (uint64_t)off;
	struct fs_call *call;

	if (refuse_stale(req, f))
		return;
	if (off < 0 || at >= f->io.len || !size) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	call = new_call(req, IO_READ, f);
	if (!call)
		return;
	call->io.off = at;
	call->io.len = min_u64(f->io.len - at, min_u64(size, IO_MAX_LEN));
	take_flags(&call->io, flags);
	call->fills = fills ? f->node->ino : 0;
	call->reply = reply_read;
	fs_call_submit(call);
}

void fs_vram_write(fuse_req_t req, struct fs_file *f, const char *buf,
		   size_t size, off_t off, int flags)
{
	uint64_t at = (uint64_t)off;
	struct fs_call *call;

	if (refuse_stale(req, f))
		return;
	if (off < 0 || at >= f->io.len) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	call = new_call(req, IO_WRITE, f);
	if (!call)
		return;
	call->io.off = at;
	call->io.len = min_u64(f->io.len - at, min_u64(size, IO_MAX_LEN));
	call->io.data = buf;
	take_flags(&call->io, flags);
	call->ino = f->node->ino;
	call->reply = reply_count;
	fs_call_submit(call);
}

void fs_vram_fallocate(fuse_req_t req, struct fs_file *f, int mode, off_t off,
		       off_t len)
{
	uint64_t end = (uint64_t)off + (uint64_t)len;
	bool beyond = end > f->io.len;
	struct fs_call *call;

	if (refuse_stale(req, f))
		return;
	switch (mode) {
	case 0:
		if (beyond)
			fuse_reply_err(req, EFBIG);
		else
			make_longer(req, f, end);
		return;
	case FALLOC_FL_KEEP_SIZE:
		fuse_reply_err(req, beyond ? ENOSPC : 0);
		return;
	case FALLOC_FL_ZERO_RANGE:
	case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE:
		if (beyond) {
			fuse_reply_err(req, EFBIG);
			return;
		}
		break;
	case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE:
		end = MIN(end, f->io.len);
		if ((uint64_t)off >= end) {
			fuse_reply_err(req, 0);
			return;
		}
		break;
	default:
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	call = new_call(req, IO_ZERO, f);
	if (!call)
		return;
	call->io.off = (uint64_t)off;
	call->io.len = end - (uint64_t)off;
	/* The kernel locks the file until we answer: whoever else writes to it
	 * could not even be killed while this waits for a hold. */
	call->io.req.nowait = true;
	call->ino = f->node->ino;
	call->io.grows = !(mode & FALLOC_FL_KEEP_SIZE);
	call->reply = reply_plain;
	fs_call_arm(call);
	fs_call_submit(call);
}

void fs_vram_copy(fuse_req_t req, struct fs_file *in, off_t off_in,
		  struct fs_file *out, off_t off_out, size_t len)
{
	uint64_t from = (uint64_t)off_in, to = (uint64_t)off_out;
	struct fs_call *call;

	if (refuse_stale(req, in) || refuse_stale(req, out))
		return;
	if (off_in < 0 || from >= in->io.len || !len) {
		fuse_reply_write(req, 0);
		return;
	}
	if (off_out < 0 || to >= out->io.len) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	call = new_call(req, IO_COPY, in);
	if (!call)
		return;
	call->io.off = from;
	call->io.len = min_u64(min_u64(len, in->io.len - from), out->io.len - to);
	call->io.dst = &out->io;
	call->io.dst_off = to;
	call->io.req.nowait = in->io.nowait || out->io.nowait;
	/* The kernel locks the destination until we answer: whoever holds its
	 * die could not write to it while the copy waits for that hold. After
	 * EXDEV the kernel copies by reading and writing, without the lock. */
	call->io.req.gives_way = !call->io.req.nowait;
	call->ino = out->node->ino;
	call->reply = reply_count;
	fs_call_arm(call);
	fs_call_submit(call);
}

static void reply_sync(struct fs_call *call, ssize_t result, const void *data)
{
	if (result < 0 && result != -ESTALE)
		call->io.file->wrote = true;
	reply_plain(call, result, data);
}

/* A reset takes what was written with it: close has nothing to wait for. */
static void reply_close(struct fs_call *call, ssize_t result, const void *data)
{
	reply_sync(call, result == -ESTALE ? 0 : result, data);
}

void fs_vram_sync(fuse_req_t req, struct fs_file *f, bool is_close)
{
	struct fs *fs = fuse_req_userdata(req);
	struct fs_call *call;
	struct bs_info info;
	bool clears = image_has_holes(&fs->io.images, &f->io.image);
	int err = 0;

	/* events that nobody ordered may not have been seen yet */
	if (backend_info(&fs->be, f->io.die, &info))
		info.alive = 0;
	if (!is_close && io_is_stale(&fs->io, &f->io))
		err = ESTALE;
	else if (!info.alive && (is_close ? f->io.wrote : f->io.has_written))
		err = EIO;
	if (err || (!io_take_written(&fs->io, &f->io, is_close) && !clears)) {
		fuse_reply_err(req, err);
		return;
	}
	call = new_call(req, clears ? IO_CLEAR : IO_SYNC, f);
	if (!call)
		return;
	if (clears)
		fs_call_arm(call);
	call->io.is_close = is_close;
	call->reply = is_close ? reply_close : reply_sync;
	fs_call_submit(call);
}

uint64_t fs_vram_resize(struct fs *fs, struct fs_file *f, uint64_t size)
{
	struct images *images = &fs->io.images;
	struct image *im = &f->io.image;
	uint64_t from = f->io.base + size;

	if (size)
		from = image_set_end(images, im, from, false);
	else
		image_start(images, im, f->io.die, f->io.base);
	readahead_touch(&fs->io.ra, f->io.die);
	return from - f->io.base;
}

/* a file that nobody has open any more, and its image */
struct finish {
	struct io io;
	struct fs *fs;
	struct fs_file *file;
	void (*done)(struct fs *fs, struct fs_file *f);
};

static void on_finished(struct io *io, ssize_t result, const void *data)
{
	struct finish *fin = container_of(io, struct finish, io);

	(void)data;
	if (result && result != -ESTALE) {
		fin->fs->n_unclear++;
		log_err("die=%u what a truncated file left out is not cleared: errno %zd",
			io->die, -result);
	}
	fin->done(fin->fs, fin->file);
	free(fin);
}

void fs_vram_finish(struct fs *fs, struct fs_file *f,
		    void (*done)(struct fs *fs, struct fs_file *f))
{
	struct finish *fin = NULL;

	if (image_has_holes(&fs->io.images, &f->io.image))
		fin = calloc(1, sizeof(*fin));
	if (!fin) {
		done(fs, f);
		return;
	}
	fin->fs = fs;
	fin->file = f;
	fin->done = done;
	io_init(&fin->io, &fs->io, IO_CLEAR, &f->io);
	fin->io.answer = on_finished;
	/* nobody is left to be told: as long as it takes */
	fin->io.req.nowait = false;
	fin->io.req.wait_ns = CTL_MAX_WAIT_MS * NSEC_PER_MSEC;
	io_submit(&fin->io);
}
