/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "policy.h"
#include "util.h"

enum step { STEP_DONE = 0, STEP_MORE = 1 }; /* else -errno */

static void io_resume(struct sched_req *req, int result);
static void io_work(struct pool_work *work);

void io_init(struct io *io, struct io_engine *eng, enum io_op op,
	     struct io_file *file)
{
	memset(io, 0, sizeof(*io));
	io->eng = eng;
	io->op = op;
	io->file = file;
	io->req.op = op == IO_SYNC ? SCHED_SYNC : SCHED_IO;
	io->req.wait_ns = eng->wait_ns;
	io->req.resume = io_resume;
	io->work.fn = io_work;
	if (file) {
		io->die = file->die;
		io->req.nowait = file->nowait;
	}
}

bool io_is_stale(const struct io_engine *eng, const struct io_file *file)
{
	return file->generation != backend_generation(eng->be, file->die);
}

/* Offset in the memory of the die. */
static uint64_t die_off(const struct io_file *file, uint64_t off)
{
	return file ? file->base + off : off;
}

static void mark_written(struct io_file *file)
{
	file->wrote = true;
	file->has_written = true;
}

static int read_ahead(void *arg, uint64_t off, void *buf, size_t len)
{
	struct io *io = arg;

	return backend_read(io->eng->be, io->die, die_off(io->file, off), buf,
			    len);
}

/* The bytes stay where the backend has them, until they are answered. */
static int step_lend(struct io *io)
{
	struct io_file *f = io->file;
	int ret;

	ret = backend_lend(io->eng->be, io->die, f->reader, die_off(f, io->off),
			   io->len, &io->loan);
	if (ret)
		return ret;
	io->out = io->loan.data;
	io->done = io->len;
	return STEP_DONE;
}

static int step_read(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;
	void *buf;
	int ret;

	if (backend_can_lend(eng->be, io->len))
		return step_lend(io);
	buf = io->to ? io->to : pool_bounce();
	if (!buf)
		return -ENOMEM;
	ret = backend_read(eng->be, io->die, die_off(f, io->off), buf, io->len);
	if (ret)
		return ret;
	if (!f->sync && readahead_note(&f->ra, io->off, io->len, io->was_parked))
		readahead_fill(&f->ra, &eng->ra, io->die, io->off + io->len,
			       f->len, read_ahead, io);
	io->out = buf;
	io->done = io->len;
	return STEP_DONE;
}

/* A write of the die failed after its answer: each file says so once. */
static int late_error(struct io *io, struct io_file *f)
{
	uint64_t lost = backend_lost(io->eng->be, f->die);

	io->is_late = atomic_exchange(&f->lost, lost) != lost;
	return io->is_late ? -EIO : 0;
}

/* Whether writes that were answered failed: since the file was told last; for
 * a ctl command, since it came. A close tells, but is not the last word: it may
 * be that of a forked child, which nobody listens to. */
static int sync_result(struct io *io)
{
	if (io->file && !io->is_close)
		return late_error(io, io->file);
	if (io->file)
		return backend_lost(io->eng->be, io->die) == io->file->lost
			       ? 0
			       : -EIO;
	return backend_lost(io->eng->be, io->die) == io->lost ? 0 : -EIO;
}

static int step_sync(struct io *io)
{
	int ret = backend_sync(io->eng->be, io->die);
	int late = sync_result(io);

	io->is_late = !ret && late;
	return ret ? ret : late;
}

static int step_write(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;
	int ret;

	ret = late_error(io, f);
	if (ret)
		return ret;
	if (!io->was_parked)
		behind_passed(&eng->behind, &f->behind, die_off(f, io->off),
			      io->len);
	mark_written(f);
	readahead_touch(&eng->ra, io->die);
	ret = backend_write(eng->be, io->die, die_off(f, io->off), io->data,
			    io->len);
	if (!ret && f->sync)
		ret = step_sync(io);
	readahead_touch(&eng->ra, io->die);
	if (!ret)
		io->done = io->len;
	return ret;
}

static int step_zero(struct io *io)
{
	struct io_engine *eng = io->eng;
	uint64_t n = MIN(io->len - io->done, IO_ZERO_STEP);
	int ret;

	if (io->file)
		mark_written(io->file);
	readahead_touch(&eng->ra, io->die);
	ret = backend_zero(eng->be, io->die,
			   die_off(io->file, io->off) + io->done, n);
	if (!ret && io->file && io->file->sync)
		ret = step_sync(io);
	readahead_touch(&eng->ra, io->die);
	if (ret)
		return ret;
	io->done += n;
	eng->zero_done[io->die] = io->done;
	eng->zero_total[io->die] = io->done < io->len ? io->len : 0;
	return io->done < io->len ? STEP_MORE : STEP_DONE;
}

/*
 * The first copy has the large stage, which is kept: fresh pages would cost as
 * much as the copy. Those beside it make do with small ones.
 */
static int stage_take(struct io *io)
{
	struct io_engine *eng = io->eng;

	if (!atomic_flag_test_and_set(&eng->is_staging)) {
		if (!eng->stage)
			eng->stage = pool_map(IO_COPY_MAX);
		if (eng->stage) {
			io->stage = eng->stage;
			io->has_large_stage = true;
			io->len = MIN(io->len, (uint64_t)IO_COPY_MAX);
			return 0;
		}
		atomic_flag_clear(&eng->is_staging);
		return -ENOMEM;
	}
	io->stage = pool_map(IO_COPY_MIN);
	io->len = MIN(io->len, (uint64_t)IO_COPY_MIN);
	return io->stage ? 0 : -ENOMEM;
}

static void stage_drop(struct io *io)
{
	if (!io->stage)
		return;
	if (io->has_large_stage)
		atomic_flag_clear(&io->eng->is_staging);
	else
		munmap(io->stage, IO_COPY_MIN);
	io->stage = NULL;
}

void io_start(struct io_engine *eng)
{
	behind_init(&eng->behind, eng->be, eng->sched, eng->pool);
}

uint64_t io_settle(struct io_engine *eng, uint64_t patience_ns)
{
	return behind_settle(&eng->behind, patience_ns);
}

void io_stop(struct io_engine *eng)
{
	behind_free(&eng->behind);
	if (eng->stage)
		munmap(eng->stage, IO_COPY_MAX);
	eng->stage = NULL;
}

/* A file whose die was reset has lost what it was opened for. */
static bool is_stale(const struct io *io)
{
	return (io->file && io_is_stale(io->eng, io->file)) ||
	       (io->dst && io_is_stale(io->eng, io->dst));
}

/* First turn: the source's bytes into RAM. Second turn: into the other die. */
static int step_copy(struct io *io)
{
	struct io_engine *eng = io->eng;
	bool is_writing = io->stage_len > 0;
	uint64_t at = 0;
	int ret = 0;

	if (!io->stage) {
		ret = stage_take(io);
		if (ret)
			return ret;
	}
	if (is_writing) {
		mark_written(io->dst);
		readahead_touch(&eng->ra, io->die);
	}
	while (!ret && at < io->len) {
		size_t n = MIN(io->len - at, BACKEND_MAX_CHUNK);

		if (io->req.interrupted)
			ret = -EINTR;
		else if (is_stale(io))
			ret = -ESTALE;
		else if (is_writing)
			ret = backend_write(eng->be, io->die,
					    io->dst->base + io->dst_off + at,
					    io->stage + at, n);
		else
			ret = backend_read(eng->be, io->die,
					   io->file->base + io->off + at,
					   io->stage + at, n);
		if (!ret)
			at += n;
	}
	if (is_writing) {
		if (at && io->dst->sync && (!ret || ret == -EINTR)) {
			int err = backend_sync(eng->be, io->die);

			ret = err ? err : ret;
		}
		readahead_touch(&eng->ra, io->die);
		io->done = at;
		return ret;
	}
	if (ret)
		return ret;
	io->stage_len = io->len;
	io->die = io->dst->die;
	return STEP_MORE;
}

static int io_step(struct io *io)
{
	switch (io->op) {
	case IO_READ:
		return step_read(io);
	case IO_WRITE:
		return step_write(io);
	case IO_ZERO:
		return step_zero(io);
	case IO_COPY:
		return step_copy(io);
	default:
		return step_sync(io);
	}
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
	stage_drop(io);
	if (is_stale(io))
		ret = -ESTALE;
	if (io->op == IO_ZERO || io->op == IO_SYNC || io->op == IO_SLOT)
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
	int ret = is_stale(io) ? -ESTALE : io_step(io);

	if ((ret == -EIO && !io->is_late) || ret == -EAGAIN)
		sched_suspect(io->eng->sched, die);
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
	bool is_taken;
	int ret;

	if (f->sync)
		return -EAGAIN;
	ret = late_error(io, f);
	if (ret)
		return ret;
	readahead_touch(&eng->ra, io->die);
	is_taken = behind_write(&eng->behind, &f->behind, io->die,
				f->generation, die_off(f, io->off), io->data,
				io->len, io->req.pid);
	readahead_touch(&eng->ra, io->die);
	if (!is_taken)
		return -EAGAIN;
	/* not earlier: a sync in between would have nothing to wait for */
	mark_written(f);
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
			ret = sync_result(io);
			break;
		}
		if (io->op == IO_SLOT)
			break;
		if (!ret)
			ret = io_turn(io);
	} while (ret == STEP_MORE);
	io_finish(io, ret);
}

/* On a copy thread: granted after a wait. */
static void io_work(struct pool_work *work)
{
	struct io *io = container_of(work, struct io, work);
	int ret = 0;

	if (io->req.result == SCHED_NOTHING)
		ret = sync_result(io);
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
		pool_submit(io->eng->pool, &io->work);
}

/* What was read ahead needs no turn. */
static bool answer_from_memory(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;

	if (io->op != IO_READ || f->sync ||
	    atomic_load(&eng->be->dies[io->die].io_errno))
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
	if (is_stale(io)) {
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
	io_run(io);
}

void io_interrupt(struct io *io)
{
	sched_interrupt(io->eng->sched, &io->req);
}
