/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compute folders: decode, hand over, one reply. Nothing waits here.
 */
#include "fuse/compute.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "compute/compute.h"
#include "compute/ctl.h"
#include "fuse/attr.h"
#include "fuse/fs.h"
#include "fuse/inval.h"
#include "text/ctl.h"

/**
 * struct compute_call - a FUSE request under way
 * @ino:   the file that a success changes, 0 for none
 * @file:  open until the answer
 * @work:  CTL: its lines; @is_close: those of a close
 * @inval: pages that it made old
 * @data:  what is written, or room for what is read
 */
struct compute_call {
	struct compute_req creq;
	struct fuse_req *req;
	struct fs *fs;
	uint64_t ino;
	struct fs_file *file;
	struct lines_work work;
	struct fs_interrupt interrupt;
	bool is_close;
	ssize_t result;
	struct fs_inval_die inval;
	char data[];
};

/* What a call keeps while it waits. */
static size_t call_len(size_t len)
{
	return sizeof(struct compute_call) + len;
}

static void on_signal(struct fs_interrupt *i)
{
	struct compute_call *call =
		container_of(i, struct compute_call, interrupt);

	compute_interrupt(call->fs->compute, &call->creq);
}

/* What a write to ctl is answered; the start of a next line is kept. */
static ssize_t end_lines(struct fs_file *f, const struct lines_work *work,
			 ssize_t done)
{
	bool is_all = done >= 0 && (size_t)done == work->run;
	int ret = done < 0 ? (int)done : 0;

	if (is_all) {
		pthread_mutex_lock(&f->text_lock);
		ret = lines_keep(&f->lines, work);
		pthread_mutex_unlock(&f->text_lock);
	}
	if (is_all && !ret)
		done = (ssize_t)work->len;
	return lines_answer(work, done < 0 ? 0 : (size_t)done, ret);
}

static void call_end(struct compute_call *call)
{
	ssize_t result = call->result;
	bool is_plain = call->creq.op == COMPUTE_LOAD || call->is_close;

	if (call->creq.op == COMPUTE_CTL && !call->is_close)
		result = end_lines(call->file, &call->work, result);
	if (result < 0 || is_plain)
		fuse_reply_err(call->req, result < 0 ? (int)-result : 0);
	else if (call->creq.op == COMPUTE_READ)
		fuse_reply_buf(call->req, call->data, (size_t)result);
	else
		fuse_reply_write(call->req, (size_t)result);
	lines_work_free(&call->work);
	budget_give(&call->fs->io.kept, call_len(call->creq.len));
	free(call);
}

static void on_inval(struct fs_inval_die *inval)
{
	call_end(container_of(inval, struct compute_call, inval));
}

static void on_answer(struct compute_req *creq, ssize_t result)
{
	struct compute_call *call = container_of(creq, struct compute_call, creq);

	fs_interrupt_disarm(&call->interrupt, call->req);
	call->result = result;
	if (result < 0)
		log_debug("die=%u compute op %d: errno %zd", creq->die,
			  creq->op, -result);
	if (result >= 0 && call->ino)
		fs_attr_touch(call->fs, call->ino, fuse_req_ctx(call->req)->uid);
	/* a kernel that was started may write anywhere in its die */
	if (creq->op == COMPUTE_READ ||
	    !fs_inval_die(call->fs, (int)creq->die, &call->inval, on_inval))
		call_end(call);
}

/* @data: @len bytes to be written, or NULL. Returns NULL: answered. */
static struct compute_call *call_new(fuse_req_t req, struct fs_file *f,
				     enum compute_op op, off_t off,
				     const char *data, size_t len, int flags)
{
	struct fs *fs = fuse_req_userdata(req);
	struct compute_call *call = NULL;

	if (budget_take(&fs->io.kept, call_len(len))) {
		call = calloc(1, call_len(len));
		if (!call)
			budget_give(&fs->io.kept, call_len(len));
	}
	if (!call) {
		fuse_reply_err(req, ENOMEM);
		return NULL;
	}
	call->req = req;
	call->fs = fs;
	call->file = f;
	call->ino = op == COMPUTE_READ ? 0 : f->node->ino;
	call->creq.op = op;
	call->creq.die = (unsigned int)f->node->die;
	call->creq.buffer =
		f->node->kind == NODE_COMPUTE_IN ? OWNER_IN : OWNER_OUT;
	call->creq.off = (size_t)off;
	call->creq.len = len;
	call->creq.data = call->data;
	call->creq.nowait = flags & O_NONBLOCK;
	call->creq.answer = on_answer;
	if (data)
		memcpy(call->data, data, len);
	return call;
}

static void call_submit(struct compute_call *call)
{
	fs_interrupt_arm(&call->interrupt, call->fs, call->req, on_signal);
	compute_submit(call->fs->compute, &call->creq);
}

static void submit(fuse_req_t req, struct fs_file *f, enum compute_op op,
		   off_t off, const char *data, size_t len, int flags)
{
	struct compute_call *call = call_new(req, f, op, off, data, len, flags);

	if (call)
		call_submit(call);
}

/* What may run of a write to ctl, or at its close. */
static void submit_lines(fuse_req_t req, struct fs_file *f,
			 struct lines_work *work, bool is_close, int flags)
{
	struct compute_call *call =
		call_new(req, f, COMPUTE_CTL, 0, work->text, work->run, flags);

	if (!call) {
		lines_work_free(work);
		return;
	}
	call->work = *work;
	call->is_close = is_close;
	if (work->run)
		call_submit(call);
	else
		call_end(call);
}

static bool is_buffer(const struct node *n)
{
	return n->kind == NODE_COMPUTE_IN || n->kind == NODE_COMPUTE_OUT;
}

/* What a file that is a text says now; to be freed. */
static ssize_t take_text(struct fs *fs, const struct node *n, char **text)
{
	unsigned int die = (unsigned int)n->die;

	switch (n->kind) {
	case NODE_COMPUTE_MODULE:
		return compute_module(fs->compute, die, text);
	case NODE_COMPUTE_LOG:
		*text = malloc(COMPUTE_LOG_MAX);
		return *text ? (ssize_t)compute_log(fs->compute, die, *text)
			     : -ENOMEM;
	case NODE_COMPUTE_STATUS:
		*text = malloc(COMPUTE_STATUS_MAX);
		return *text ? (ssize_t)compute_status(fs->compute, die, *text)
			     : -ENOMEM;
	default:
		*text = strdup(compute_help());
		return *text ? (ssize_t)strlen(*text) : -ENOMEM;
	}
}

uint64_t fs_compute_len(struct fs *fs, const struct node *n)
{
	char status[COMPUTE_STATUS_MAX];
	unsigned int die = (unsigned int)n->die;

	switch (n->kind) {
	case NODE_COMPUTE_CTL:
		return strlen(compute_help());
	case NODE_COMPUTE_STATUS:
		return compute_status(fs->compute, die, status);
	case NODE_COMPUTE_LOG:
		return compute_log(fs->compute, die, NULL);
	case NODE_COMPUTE_MODULE:
		return (uint64_t)compute_module(fs->compute, die, NULL);
	default:
		return OWNER_BYTES;
	}
}

void fs_compute_logged(void *arg, unsigned int die)
{
	struct fs *fs = arg;

	for (uint64_t ino = 0; ino < NODE_TABLE_LEN; ino++) {
		const struct node *n = node_get(&fs->nodes, ino);

		if (n && n->kind == NODE_COMPUTE_LOG && n->die == (int)die)
			fs_attr_touch(fs, ino, 0);
	}
}

int fs_compute_snapshot(struct fs *fs, struct fs_file *f)
{
	char *text = NULL, *old;
	ssize_t len;

	if (is_buffer(f->node))
		return 0;
	len = take_text(fs, f->node, &text);
	if (len < 0)
		return (int)len;
	pthread_mutex_lock(&f->text_lock);
	old = f->text;
	f->text = text;
	f->text_len = (size_t)len;
	pthread_mutex_unlock(&f->text_lock);
	free(old);
	return 0;
}

static void read_text(fuse_req_t req, struct fs_file *f, size_t size, off_t off)
{
	int ret = off ? 0 : fs_compute_snapshot(fuse_req_userdata(req), f);
	char *copy = NULL;
	size_t len = 0;

	if (ret) {
		fuse_reply_err(req, -ret);
		return;
	}
	pthread_mutex_lock(&f->text_lock);
	if ((uint64_t)off < f->text_len) {
		len = min_u64(size, f->text_len - (uint64_t)off);
		copy = malloc(len);
		if (copy)
			memcpy(copy, f->text + off, len);
	}
	pthread_mutex_unlock(&f->text_lock);
	if (len && !copy)
		fuse_reply_err(req, ENOMEM);
	else
		fuse_reply_buf(req, copy, len);
	free(copy);
}

void fs_compute_read(fuse_req_t req, struct fs_file *f, size_t size, off_t off,
		     int flags)
{
	if (!is_buffer(f->node))
		read_text(req, f, size, off);
	else if (off < 0 || (uint64_t)off >= OWNER_BYTES || !size)
		fuse_reply_buf(req, NULL, 0);
	else
		submit(req, f, COMPUTE_READ, off, NULL,
		       min_u64(size, OWNER_BYTES - (uint64_t)off), flags);
}

/* Collects a module; it is loaded when its file is closed. */
static void write_module(fuse_req_t req, struct fs_file *f, const char *buf,
			 size_t size, off_t off)
{
	struct budget *kept = &((struct fs *)fuse_req_userdata(req))->io.kept;
	struct fs_module *m = &f->module;
	size_t end = (size_t)off + size;
	int err = 0;
	char *grown;

	pthread_mutex_lock(&f->text_lock);
	if ((size_t)off > m->len)
		err = EINVAL;
	else if (end > OWNER_MAX_PTX)
		err = EFBIG;
	if (!err && end > m->room) {
		grown = budget_take(kept, 2 * end - m->room)
				? realloc(m->text, 2 * end)
				: NULL;
		if (grown) {
			m->text = grown;
			m->room = 2 * end;
		} else {
			err = ENOMEM;
		}
	}
	if (!err) {
		memcpy(m->text + off, buf, size);
		m->len = end > m->len ? end : m->len;
		m->is_changed = true;
	}
	pthread_mutex_unlock(&f->text_lock);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_write(req, size);
}

static void write_ctl(fuse_req_t req, struct fs_file *f, const char *buf,
		      size_t size, int flags)
{
	struct lines_work work;
	int ret;

	pthread_mutex_lock(&f->text_lock);
	ret = lines_add(&f->lines, buf, size, NULL, &work);
	pthread_mutex_unlock(&f->text_lock);
	if (ret)
		fuse_reply_err(req, -ret);
	else
		submit_lines(req, f, &work, false, flags);
}

void fs_compute_write(fuse_req_t req, struct fs_file *f, const char *buf,
		      size_t size, off_t off, int flags)
{
	if (f->node->kind == NODE_COMPUTE_MODULE)
		write_module(req, f, buf, size, off);
	else if (!is_buffer(f->node))
		write_ctl(req, f, buf, size, flags);
	else if (off < 0 || (uint64_t)off >= OWNER_BYTES)
		fuse_reply_err(req, ENOSPC);
	else
		submit(req, f, COMPUTE_WRITE, off, buf,
		       min_u64(size, OWNER_BYTES - (uint64_t)off), flags);
}

static void flush_ctl(fuse_req_t req, struct fs_file *f)
{
	struct lines_work work;

	pthread_mutex_lock(&f->text_lock);
	lines_end(&f->lines, NULL, &work);
	pthread_mutex_unlock(&f->text_lock);
	if (work.run)
		submit_lines(req, f, &work, true, f->flags);
	else
		fuse_reply_err(req, 0);
}

void fs_compute_flush(fuse_req_t req, struct fs_file *f)
{
	struct fs_module *m = &f->module;
	char *text = NULL;
	size_t len = 0;
	bool is_changed;

	if (f->node->kind == NODE_COMPUTE_CTL) {
		flush_ctl(req, f);
		return;
	}
	pthread_mutex_lock(&f->text_lock);
	is_changed = m->is_changed;
	m->is_changed = false;
	if (is_changed) {
		len = m->len;
		text = malloc(len);
		if (text)
			memcpy(text, m->text, len);
	}
	pthread_mutex_unlock(&f->text_lock);
	if (!is_changed)
		fuse_reply_err(req, 0);
	else if (!text)
		fuse_reply_err(req, ENOMEM);
	else
		submit(req, f, COMPUTE_LOAD, 0, text, len, f->flags);
	free(text);
}
