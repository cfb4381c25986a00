/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes to ctl: the lines of one write run in order, each as a request of its
 * own that may be parked. See text/lines.h for which of them run.
 */
#include "fuse/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/call.h"
#include "fuse/fs.h"
#include "fuse/inval.h"
#include "fuse/status.h"
#include "fuse/uring.h"
#include "text/ctl.h"
#include "text/lines.h"

/* a command's two ends meet: the one that comes second goes on */
enum run_state { RUN_NONE, RUN_SUBMITTED, RUN_ANSWERED };

/**
 * struct ctl_run - one write, or a close, under way
 * @call:   the request; its io serves one command after the other
 * @work:   its lines, those from @pos are still to run
 * @line:   length of the line that runs now
 * @flags:  O_NONBLOCK, as of this write
 * @result: of that line
 * @inval:  pages that it made old
 */
struct ctl_run {
	struct fs_call call;
	struct fs_file *file;
	struct lines_work work;
	bool is_close;
	size_t pos;
	size_t line;
	int flags;
	ssize_t result;
	_Atomic int state;
	struct fs_inval_die inval;
};

static void run_lines(struct ctl_run *run);

/* The start of the next line is kept once all before it has succeeded. */
static long keep_rest(struct ctl_run *run)
{
	struct fs_file *f = run->file;
	int ret = (int)MIN(run->result, (ssize_t)0);

	if (!ret) {
		pthread_mutex_lock(&f->text_lock);
		ret = lines_keep(&f->lines, &run->work);
		pthread_mutex_unlock(&f->text_lock);
	}
	return lines_answer(&run->work, ret ? run->pos : run->work.len, ret);
}

static void run_end(struct ctl_run *run)
{
	long count;

	fs_call_disarm(&run->call);
	if (run->pos)
		fs_attr_touch(run->call.fs, run->file->node->ino,
			      fuse_req_ctx(run->call.req)->uid);
	if (run->is_close) {
		fuse_reply_err(run->call.req,
			       run->result < 0 ? (int)-run->result : 0);
	} else {
		count = keep_rest(run);
		if (count < 0)
			fuse_reply_err(run->call.req, (int)-count);
		else
			fuse_reply_write(run->call.req, (size_t)count);
	}
	fs_uring_answered(&run->call);
	lines_work_free(&run->work);
	free(run);
}

/* The line at @pos has its result. Returns whether another one follows. */
static bool line_done(struct ctl_run *run)
{
	if (run->result < 0) {
		log_debug("ctl: %.*s: errno %zd", (int)run->line,
			  run->work.text + run->pos, -run->result);
		return false;
	}
	run->pos += run->line;
	return run->pos < run->work.run;
}

/* Where the two ends of a command meet. */
static void answered(struct ctl_run *run)
{
	if (atomic_exchange(&run->state, RUN_ANSWERED) != RUN_SUBMITTED)
		return;
	if (line_done(run))
		run_lines(run);
	else
		run_end(run);
}

static void on_inval(struct fs_inval_die *inval)
{
	answered(container_of(inval, struct ctl_run, inval));
}

/* A clear or a reset changes it as a write does. */
static void touch_memory(struct ctl_run *run)
{
	static const char *const names[] = { "vram", "resmem" };
	const struct node_table *nodes = &run->call.fs->nodes;
	const struct node *dir = node_get(nodes, run->file->node->parent);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct node *n = node_find(nodes, dir, names[i]);

		if (n)
			fs_attr_touch(run->call.fs, n->ino,
				      fuse_req_ctx(run->call.req)->uid);
	}
}

static void on_answer(struct io *io, ssize_t result, const void *data)
{
	struct ctl_run *run = container_of(io, struct ctl_run, call.io);

	(void)data;
	fs_call_disarm(&run->call);
	run->result = result;
	if (io->op == IO_ZERO || io->req.op == SCHED_RESET) {
		/* also of one that was interrupted: mmap(2) is to see what it
		 * did */
		touch_memory(run);
		if (fs_inval_die(run->call.fs, (int)io->die, &run->inval,
				 on_inval))
			return;
	}
	answered(run);
}

static int on_park(struct io *io)
{
	struct ctl_run *run = container_of(io, struct ctl_run, call.io);
	int ret = fs_uring_wait(&run->call);

	if (!ret)
		fs_call_arm(&run->call);
	return ret;
}

static void read_comm(pid_t pid, char *comm)
{
	char path[32];
	FILE *f;

	strcpy(comm, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(comm, SCHED_COMM_LEN, f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
}

/* The die in the slot, whoever put it there; -1 for none. */
static int die_in_slot(struct fs *fs)
{
	struct bs_info info;

	for (unsigned int die = 0; die < fs->be.n_dies; die++)
		if (!backend_info(&fs->be, die, &info) &&
		    (info.state == BS_STATE_ACTIVE ||
		     info.state == BS_STATE_NO_VRAM))
			return (int)die;
	return -1;
}

/*
 * Whether the command is refused while another die is held. The kernel locks a
 * file until an append to it is answered: other writers of this ctl could not
 * even be killed while it waits. Who names a wait= has it.
 */
static bool is_nowait(const struct ctl_run *run, const struct ctl_cmd *cmd)
{
	return cmd->nowait || (run->flags & O_NONBLOCK) ||
	       ((run->flags & O_APPEND) && !cmd->has_wait);
}

/* All prepare functions: 1 the io is to be submitted, else the result. */
static int prepare_slot(struct ctl_run *run, const struct ctl_cmd *cmd, int die)
{
	struct io *io = &run->call.io;
	static const enum sched_op ops[] = {
		[CTL_ACQUIRE] = SCHED_ACQUIRE, [CTL_RELEASE] = SCHED_RELEASE,
		[CTL_PIN] = SCHED_PIN,         [CTL_LEASE] = SCHED_LEASE,
		[CTL_RESET] = SCHED_RESET,
	};

	if (!run->call.fs->be.ops->has_slot &&
	    (cmd->verb == CTL_ACQUIRE || cmd->verb == CTL_RELEASE) && !cmd->sbr) {
		log_info("die=%d %s: nothing to do, backend %s has no slot",
			 die, cmd->verb == CTL_ACQUIRE ? "acquire" : "release",
			 run->call.fs->be.ops->name);
		return 0;
	}
	if (die < 0)
		die = die_in_slot(run->call.fs);
	if (die < 0)
		return 0;
	io->die = (unsigned int)die;
	io->req.op = cmd->sbr ? SCHED_RESET : ops[cmd->verb];
	io->req.nowait = is_nowait(run, cmd);
	if (cmd->has_wait)
		io->req.wait_ns = cmd->wait_ms * NSEC_PER_MSEC;
	if (cmd->verb == CTL_PIN || cmd->verb == CTL_LEASE) {
		io->req.pid = fuse_req_ctx(run->call.req)->pid;
		read_comm(io->req.pid, io->req.comm);
		io->req.hold = &run->file->hold;
	}
	/* whoever commands a die wants to see what is in it now */
	readahead_touch(&run->call.fs->io.ra, io->die);
	return 1;
}

static int prepare_zero(struct ctl_run *run, const struct ctl_cmd *cmd, int die)
{
	const struct backend_die *d = &run->call.fs->be.dies[die];
	uint64_t size = d->vram_bytes;
	struct io *io = &run->call.io;

	/* all of it, the carve-out too */
	io->len = d->len;
	if (cmd->has_range) {
		if (cmd->off > size || cmd->len > size - cmd->off)
			return -EINVAL;
		io->off = cmd->off;
		io->len = cmd->len;
	}
	if (!io->len)
		return 0;
	io->req.nowait = is_nowait(run, cmd);
	fs_call_arm(&run->call);
	return 1;
}

static int prepare_flush(struct ctl_run *run, int die)
{
	struct fs *fs = run->call.fs;
	struct bs_info info;

	if (backend_info(&fs->be, (unsigned int)die, &info) || !info.alive)
		return -EIO;
	readahead_touch(&fs->io.ra, (unsigned int)die);
	return 1;
}

static int prepare(struct ctl_run *run, const struct ctl_cmd *cmd)
{
	enum io_op op = cmd->verb == CTL_FLUSH  ? IO_SYNC
			: cmd->verb == CTL_ZERO ? IO_ZERO
						: IO_SLOT;
	struct fs *fs = run->call.fs;
	int die = run->file->node->die;
	struct io *io = &run->call.io;

	io_init(io, &fs->io, op, NULL);
	io->die = die < 0 ? 0 : (unsigned int)die;
	io->park = on_park;
	io->answer = on_answer;

	switch (cmd->verb) {
	case CTL_BLANK:
		return 0;
	case CTL_UNPIN:
		sched_unpin(fs->io.sched, (unsigned int)die);
		return 0;
	case CTL_TIMESLICE:
		sched_set_slice(fs->io.sched, cmd->slice_ms);
		fs_status_changed(fs);
		return 0;
	case CTL_FLUSH:
		return prepare_flush(run, die);
	case CTL_ZERO:
		return prepare_zero(run, cmd, die);
	default:
		return prepare_slot(run, cmd, die);
	}
}

/* Returns true when the line has its result, false when it will come later. */
static bool run_line(struct ctl_run *run)
{
	enum ctl_scope scope =
		run->file->node->die < 0 ? CTL_SCOPE_ROOT : CTL_SCOPE_DIE;
	const char *line = run->work.text + run->pos;
	struct ctl_cmd cmd;

	run->line = ctl_line(line, run->work.run - run->pos);
	run->result = ctl_parse(scope, line, run->line, &cmd);
	if (run->result)
		return true;
	run->result = prepare(run, &cmd);
	if (run->result <= 0)
		return true;

	run->state = RUN_NONE;
	fs_call_submit(&run->call);
	return atomic_exchange(&run->state, RUN_SUBMITTED) == RUN_ANSWERED;
}

/* Runs lines until one must wait, or until the write is over. */
static void run_lines(struct ctl_run *run)
{
	do {
		if (!run_line(run))
			return;
	} while (line_done(run));
	run_end(run);
}

static void start(fuse_req_t req, struct fs_file *f, struct lines_work *work,
		  bool is_close, int flags)
{
	struct ctl_run *run = calloc(1, sizeof(*run));

	if (!run) {
		lines_work_free(work);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	run->call.req = req;
	run->call.fs = fuse_req_userdata(req);
	run->file = f;
	run->work = *work;
	run->is_close = is_close;
	run->flags = flags;
	if (run->work.run)
		run_lines(run);
	else
		run_end(run);
}

void fs_ctl_write(fuse_req_t req, struct fs_file *f, const char *buf,
		  size_t size, int flags)
{
	struct lines_work work;
	int ret;

	pthread_mutex_lock(&f->text_lock);
	ret = lines_add(&f->lines, buf, size, ctl_needs_newline, &work);
	pthread_mutex_unlock(&f->text_lock);
	if (ret)
		fuse_reply_err(req, -ret);
	else
		start(req, f, &work, false, flags);
}

void fs_ctl_flush(fuse_req_t req, struct fs_file *f)
{
	struct lines_work work;
	int ret;

	pthread_mutex_lock(&f->text_lock);
	ret = lines_end(&f->lines, ctl_needs_newline, &work);
	pthread_mutex_unlock(&f->text_lock);
	if (ret || !work.run)
		fuse_reply_err(req, -ret);
	else
		start(req, f, &work, true, f->flags);
}
