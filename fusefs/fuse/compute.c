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
#include "text/ctl.h"

/**
 * struct compute_call - a FUSE request under way
 * @ino:  the file that a success changes, 0 for none
 * @data: what is written, or room for what is read
 */
struct compute_call {
	struct compute_req creq;
	struct fuse_req *req;
	struct fs *fs;
	uint64_t ino;
	char data[];
};

static void on_interrupt(fuse_req_t req, void *data)
{
	struct compute_call *call = data;

	(void)req;
	compute_interrupt(call->fs->compute, &call->creq);
}

static void on_answer(struct compute_req *creq, ssize_t result)
{
	struct compute_call *call = container_of(creq, struct compute_call, creq);

	fuse_req_interrupt_func(call->req, NULL, NULL);
	if (result >= 0 && call->ino)
		fs_attr_touch(call->fs, call->ino);
	if (result < 0) {
		log_debug("die=%u compute op %d: errno %zd", creq->die,
			  creq->op, -result);
		fuse_reply_err(call->req, (int)-result);
	} else if (creq->op == COMPUTE_READ) {
		fuse_reply_buf(call->req, call->data, (size_t)result);
	} else if (creq->op == COMPUTE_LOAD) {
		fuse_reply_err(call->req, 0);
	} else {
		fuse_reply_write(call->req, (size_t)result);
	}
	free(call);
}

/* @data: @len bytes to be written, or NULL. */
static void submit(fuse_req_t req, struct fs_file *f, enum compute_op op,
		   off_t off, const char *data, size_t len, int flags)
{
	struct compute_call *call = calloc(1, sizeof(*call) + len);

	if (!call) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	call->req = req;
	call->fs = fuse_req_userdata(req);
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
	fuse_req_interrupt_func(req, on_interrupt, call);
	compute_submit(call->fs->compute, &call->creq);
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
		grown = realloc(m->text, 2 * end);
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

void fs_compute_write(fuse_req_t req, struct fs_file *f, const char *buf,
		      size_t size, off_t off, int flags)
{
	int ret;

	if (f->node->kind == NODE_COMPUTE_MODULE) {
		write_module(req, f, buf, size, off);
	} else if (is_buffer(f->node)) {
		if (off < 0 || (uint64_t)off >= OWNER_BYTES)
			fuse_reply_err(req, ENOSPC);
		else
			submit(req, f, COMPUTE_WRITE, off, buf,
			       min_u64(size, OWNER_BYTES - (uint64_t)off), flags);
	} else {
		ret = ctl_check(buf, size);
		if (ret)
			fuse_reply_err(req, -ret);
		else
			submit(req, f, COMPUTE_CTL, 0, buf, size, flags);
	}
}

void fs_compute_flush(fuse_req_t req, struct fs_file *f)
{
	struct fs_module *m = &f->module;
	char *text = NULL;
	size_t len = 0;
	bool is_changed;

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
