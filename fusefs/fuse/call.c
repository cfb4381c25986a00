/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuse/call.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/fs.h"
#include "fuse/inval.h"
#include "fuse/uring.h"

static void on_signal(struct fs_interrupt *i)
{
	io_interrupt(&container_of(i, struct fs_call, interrupt)->io);
}

void fs_call_arm(struct fs_call *call)
{
	if (call->is_armed)
		return;
	call->is_armed = true;
	fs_interrupt_arm(&call->interrupt, call->fs, call->req, on_signal);
}

void fs_call_disarm(struct fs_call *call)
{
	if (!call->is_armed)
		return;
	fs_interrupt_disarm(&call->interrupt, call->req);
	call->is_armed = false;
}

/* The worker's buffer goes back to libfuse when the request is parked. */
static int call_park(struct io *io)
{
	struct fs_call *call = container_of(io, struct fs_call, io);
	int ret = fs_uring_wait(call);

	if (ret)
		return ret;
	/* a ring keeps it until the answer */
	if (io->op == IO_WRITE && !call->queue && !call->buf) {
		if (!budget_take(&io->eng->kept, io->len))
			return -ENOMEM;
		call->buf = malloc(io->len);
		if (!call->buf) {
			budget_give(&io->eng->kept, io->len);
			return -ENOMEM;
		}
		memcpy(call->buf, io->data, io->len);
		io->data = call->buf;
	}
	if (call->fills && !call->is_filling) {
		fs_inval_park(call->fs, call->fills);
		call->is_filling = true;
	}
	fs_call_arm(call);
	return 0;
}

static void call_free(struct fs_call *call)
{
	fs_uring_answered(call);
	if (call->is_filling)
		fs_inval_unpark(call->fs, call->fills);
	if (call->buf)
		budget_give(&call->fs->io.kept, call->io.len);
	free(call->buf);
	free(call);
}

static void on_inval(struct fs_inval *job)
{
	struct fs_call *call = container_of(job, struct fs_call, inval);

	if (call->reply)
		call->reply(call, call->result, NULL);
	call_free(call);
}

/* A write through the page cache, of which the kernel updates the pages. */
static bool is_cached(const struct fs_call *call)
{
	return call->fs->opts->cache && call->io.op == IO_WRITE &&
	       !call->io.direct;
}

/*
 * Drops pages that are old now, before the answer. Those of a write through the
 * page cache are locked until then, in pieces that may reach far before it: a
 * hole that it leaves in a new image is dropped after the answer.
 */
static void drop_pages(struct fs_call *call)
{
	struct io *io = &call->io;
	uint64_t off = io->dst ? io->dst_off : io->off;
	uint64_t from = min_u64(off, io->hole_from);

	if (is_cached(call)) {
		call->reply(call, call->result, NULL);
		call->reply = NULL;
	}
	call->inval.ino = call->ino;
	call->inval.off = (off_t)from;
	call->inval.len = (off_t)(off + io->len - from);
	call->inval.then = on_inval;
	fs_inval_queue(call->fs, &call->inval);
}

static void call_answer(struct io *io, ssize_t result, const void *data)
{
	struct fs_call *call = container_of(io, struct fs_call, io);
	/* a clear that was interrupted has changed something, too */
	bool is_change = call->ino && (result >= 0 || io->done);

	fs_call_disarm(call);
	call->result = result;
	if (result >= 0 && call->ino)
		fs_attr_touch(call->fs, call->ino, call->uid);
	if (is_change && fs_inval_needed(call->fs, call->ino) &&
	    (!is_cached(call) || io->hole_from < io->off)) {
		drop_pages(call);
		return;
	}
	call->reply(call, result, data);
	call_free(call);
}

struct fs_call *fs_call_new(fuse_req_t req, enum io_op op, struct io_file *file)
{
	struct fs_call *call = malloc(sizeof(*call));

	if (!call)
		return NULL;
	call->req = req;
	call->fs = fuse_req_userdata(req);
	call->buf = NULL;
	call->queue = NULL;
	call->is_waiting = false;
	call->ino = 0;
	call->fills = 0;
	call->is_filling = false;
	call->is_armed = false;
	io_init(&call->io, &call->fs->io, op, file);
	call->io.req.pid = fuse_req_ctx(req)->pid;
	call->uid = fuse_req_ctx(req)->uid;
	call->io.park = call_park;
	call->io.answer = call_answer;
	return call;
}

void fs_call_submit(struct fs_call *call)
{
	fs_uring_call(call);
	io_submit(&call->io);
}
