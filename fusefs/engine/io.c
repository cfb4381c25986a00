/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/io_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "sched/policy.h"

static void io_resume(struct sched_req *req, int result);
static void io_work(struct pool_work *work);

void io_init(struct io *io, struct io_engine *eng, enum io_op op,
	     struct io_file *file)
{
	memset(io, 0, sizeof(*io));
	io->eng = eng;
	io->op = op;
	io->file = file;
	io->hole_from = UINT64_MAX;
	io->req.op = op == IO_SYNC ? SCHED_SYNC : SCHED_IO;
	io->req.wait_ns = eng->wait_ns;
	io->req.resume = io_resume;
	io->work.fn = io_work;
	if (file) {
		io->die = file->die;
		io->req.nowait = file->nowait;
		io->sync = file->sync;
	}
}

void io_start(struct io_engine *eng)
{
	eng->kept.max = IO_KEPT_MAX;
	behind_init(&eng->behind, eng->be, eng->sched, eng->pool);
	images_init(&eng->images, eng->be);
}

void io_end(struct io_engine *eng)
{
	behind_close(&eng->behind);
}

uint64_t io_settle(struct io_engine *eng, uint64_t patience_ns)
{
	return behind_settle(&eng->behind, patience_ns);
}

void io_stop(struct io_engine *eng)
{
	behind_free(&eng->behind);
	images_free(&eng->images);
	if (eng->stage)
		munmap(eng->stage, IO_COPY_MAX);
	eng->stage = NULL;
}

static void io_finish(struct io *io, int ret)
{
	struct backend_loan loan = io->loan;
	struct backend *be = io->eng->be;
	unsigned int die = io->die;
	bool was_write = io->op == IO_WRITE || io->op == IO_COPY;
	ssize_t result;

	if (io->op == IO_ZERO)
		io->eng->zero_total[io->die] = 0;
	io_stage_drop(io);
	if (io_is_gone(io))
		ret = -ESTALE;
	if (io->op == IO_ZERO || io->op == IO_SYNC || io->op == IO_CLEAR ||
	    io->op == IO_SLOT)
		result = ret;
	else if (io->op == IO_COPY && ret == -EINTR && io->done)
		result = (ssize_t)io->done;
	else
		result = ret ? ret : (ssize_t)io->done;
	io->answer(io, result, io->out);
	/* @io is gone, and maybe its file */
	if (loan.buf)
		backend_give_back(be, die, &loan);
	if (was_write)
		backend_push(be, die);
}

/* The die is in and counted for us: one step, then give it back. */
static int io_turn(struct io *io)
{
	unsigned int die = io->die;
	int ret;

	if (io_is_gone(io))
		ret = -ESTALE;
	else if (io->req.is_long && io->req.interrupted)
		ret = -EINTR;
	else
		ret = io_step(io);

	if ((ret == -EIO && !io->is_late) || ret == -EAGAIN)
		sched_suspect(io->eng->sched, die);
	if (io->req.is_long)
		sched_put_long(io->eng->sched, die);
	else
		sched_put(io->eng->sched, die);
	if (ret == -EAGAIN)
		ret = io->taken++ < IO_MAX_TAKEN ? STEP_MORE : -EIO;
	return ret;
}

/* A write that would wait may be answered now and made later; else -EAGAIN. */
static int write_behind(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;
	struct image_op op;
	bool is_taken;
	int ret;

	if (io->sync || image_is_full(&eng->images, io->die))
		return -EAGAIN;
	ret = io_late_error(io, f);
	if (!ret)
		ret = image_write_begin(&eng->images, &op, io->die,
					io_die_off(f, io->off), io->len);
	if (ret)
		return ret;
	readahead_touch(&eng->ra, io->die);
	is_taken = behind_write(&eng->behind, &f->behind, io->die,
				f->generation, io_die_off(f, io->off), io->data,
				io->len, io->req.pid);
	io_image_write_end(io, &op, f, is_taken);
	readahead_touch(&eng->ra, io->die);
	if (!is_taken)
		return -EAGAIN;
	/* not earlier: a sync in between would have nothing to wait for */
	io_mark_written(f);
	io->done = io->len;
	return 0;
}

/* Steps until the end, or until the next one must wait. */
static void io_run(struct io *io)
{
	int ret;

	do {
		if (io->req.interrupted) {
			ret = -EINTR;
			break;
		}
		io->req.die = (int)io->die;
		ret = sched_try(io->eng->sched, &io->req);
		if (ret == -EAGAIN && io->op == IO_WRITE) {
			ret = write_behind(io);
			if (ret != -EAGAIN)
				break;
		}
		if (ret == -EAGAIN) {
			ret = io->park ? io->park(io) : 0;
			if (ret)
				break;
			io->was_parked = true;
			sched_park(io->eng->sched, &io->req);
			return;
		}
		if (ret == SCHED_NOTHING) {
			ret = io_sync_result(io);
			break;
		}
		if (io->op == IO_SLOT)
			break;
		if (!ret && io->req.is_long) {
			pool_submit(io->eng->long_pool, &io->work);
			return;
		}
		if (!ret)
			ret = io_turn(io);
	} while (ret == STEP_MORE);
	io_finish(io, ret);
}

/* On a copy thread: granted after a wait, or too long for other threads. */
static void io_work(struct pool_work *work)
{
	struct io *io = container_of(work, struct io, work);
	int ret = 0;

	if (io->req.result == SCHED_NOTHING)
		ret = io_sync_result(io);
	else if (io->op != IO_SLOT)
		ret = io_turn(io);
	if (ret == STEP_MORE)
		io_run(io);
	else
		io_finish(io, ret);
}

static void io_resume(struct sched_req *req, int result)
{
	struct io *io = container_of(req, struct io, req);

	if (result < 0)
		io_finish(io, result);
	else
		pool_submit(req->is_long ? io->eng->long_pool : io->eng->pool,
			    &io->work);
}

/* What was read ahead needs no turn. */
static bool answer_from_memory(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;

	if (io->op != IO_READ || io->sync || io->direct ||
	    readahead_is_empty(&f->ra))
		return false;
	io_look_for_others(io);
	if (backend_condition(eng->be, io->die))
		return false;
	io->out = readahead_get(&f->ra, &eng->ra, io->die, io->off, io->len,
				now_ns());
	if (!io->out)
		return false;
	io->done = io->len;
	io_finish(io, 0);
	/* the file may be closed by now: readahead_free() waits for this */
	readahead_put(&f->ra);
	return true;
}

bool io_take_written(struct io_engine *eng, struct io_file *f, bool is_close)
{
	if (atomic_exchange(&f->wrote, false))
		return true;
	if (is_close)
		return f->has_written && behind_waits(&eng->behind, f->die);
	/* another file, or a sync that is not over, may have taken the mark */
	return behind_waits(&eng->behind, f->die) ||
	       (f->has_written && f->lost != backend_lost(eng->be, f->die));
}

void io_submit(struct io *io)
{
	if (io_is_gone(io)) {
		io_finish(io, 0);
		return;
	}
	if (answer_from_memory(io))
		return;
	io->lost = backend_lost(io->eng->be, io->die);
	/* a die that is out has nothing to wait for but this */
	if (io->op == IO_SYNC && behind_waits(&io->eng->behind, io->die)) {
		io->req.op = SCHED_IO;
		/* who does not wait would not hear of a loss either */
		io->req.nowait = false;
	}
	io->req.small = (io->op == IO_READ || io->op == IO_WRITE) &&
			policy_is_small(io->len);
	/* a command; a client's hole is punched as long as there are clients */
	io->req.ends_early = io->op == IO_ZERO && !io->file;
	/* what an image has not written may be as long as the die */
	io->req.is_long = io->op == IO_CLEAR ||
			  ((io->op == IO_ZERO || io->op == IO_COPY) &&
			   io->len > IO_MAX_LEN);
	if (io->req.is_long && io->park) {
		int ret = io->park(io);

		if (ret) {
			io_finish(io, ret);
			return;
		}
	}
	io_run(io);
}

void io_interrupt(struct io *io)
{
	sched_interrupt(io->eng->sched, &io->req);
}
