/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/io_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"

bool io_is_stale(const struct io_engine *eng, const struct io_file *file)
{
	return file->generation != backend_generation(eng->be, file->die);
}

uint64_t io_die_off(const struct io_file *file, uint64_t off)
{
	return file ? file->base + off : off;
}

void io_mark_written(struct io_file *file)
{
	file->wrote = true;
	file->has_written = true;
}

void io_image_write_end(struct io *io, struct image_op *op,
			struct io_file *file, bool is_done)
{
	uint64_t from = image_write_end(&io->eng->images, op,
					file ? &file->image : NULL, is_done);

	if (from < op->range.start)
		io->hole_from = MIN(io->hole_from, from - file->base);
}

/*
 * What a reader is to see of the memory at @off. What is a hole before the
 * read is zeros, whatever comes meanwhile; what comes to be one was there.
 */
static int read_with_holes(struct io *io, uint64_t off, void *buf, size_t len,
			   const struct range *holes, int n)
{
	int ret = backend_read(io->eng->be, io->die, off, buf, len);

	for (int i = 0; !ret && i < n; i++)
		memset((char *)buf + (holes[i].start - off), 0,
		       holes[i].end - holes[i].start);
	return ret;
}

static int read_die(struct io *io, uint64_t off, void *buf, size_t len)
{
	struct range *holes;
	int n = image_holes(&io->eng->images, io->die, off, len, &holes);
	int ret = n < 0 ? n : read_with_holes(io, off, buf, len, holes, n);

	free(holes);
	return ret;
}

static int read_ahead(void *arg, uint64_t off, void *buf, size_t len)
{
	struct io *io = arg;

	return read_die(io, io_die_off(io->file, off), buf, len);
}

void io_look_for_others(struct io *io)
{
	struct io_engine *eng = io->eng;
	uint64_t others = backend_others(eng->be, io->die);

	if (atomic_exchange(&eng->others[io->die], others) != others)
		readahead_touch(&eng->ra, io->die);
}

/* The bytes stay where the backend has them, until they are answered. */
static int step_lend(struct io *io)
{
	struct io_file *f = io->file;
	int ret;

	ret = backend_lend(io->eng->be, io->die, f->reader,
			   io_die_off(f, io->off), io->len, &io->loan);
	if (ret)
		return ret;
	io->out = io->loan.data;
	io->done = io->len;
	return STEP_DONE;
}

static void read_on(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;

	if (!readahead_note(&f->ra, io->off, io->len, io->was_parked))
		return;
	io_look_for_others(io);
	readahead_fill(&f->ra, &eng->ra, io->die, io->off + io->len, f->len,
		       read_ahead, io);
}

static bool has_holes(struct io *io)
{
	struct range *holes;
	int n = image_holes(&io->eng->images, io->die,
			    io_die_off(io->file, io->off), io->len, &holes);

	free(holes);
	return n;
}

static int step_read(struct io *io)
{
	void *buf;
	int ret;

	if (backend_can_lend(io->eng->be, io->len) && !has_holes(io))
		return step_lend(io);
	buf = io->to ? io->to : pool_bounce();
	if (!buf)
		return -ENOMEM;
	ret = read_die(io, io_die_off(io->file, io->off), buf, io->len);
	if (ret)
		return ret;
	if (!io->sync && !io->direct)
		read_on(io);
	io->out = buf;
	io->done = io->len;
	return STEP_DONE;
}

int io_late_error(struct io *io, struct io_file *f)
{
	uint64_t lost = backend_lost(io->eng->be, f->die);

	io->is_late = atomic_exchange(&f->lost, lost) != lost;
	return io->is_late ? -EIO : 0;
}

int io_sync_result(struct io *io)
{
	if (io->file && !io->is_close)
		return io_late_error(io, io->file);
	if (io->file)
		return backend_lost(io->eng->be, io->die) == io->file->lost
			       ? 0
			       : -EIO;
	return backend_lost(io->eng->be, io->die) == io->lost ? 0 : -EIO;
}

static int step_sync(struct io *io)
{
	int ret = backend_sync(io->eng->be, io->die);
	int late = io_sync_result(io);

	io->is_late = !ret && late;
	return ret ? ret : late;
}

/* Clears what the caller has begun to. */
static int clear_hole(struct io *io, struct image_op *op)
{
	struct io_engine *eng = io->eng;
	int ret;

	readahead_touch(&eng->ra, io->die);
	ret = backend_zero(eng->be, io->die, op->range.start,
			   op->range.end - op->range.start);
	image_clear_end(&eng->images, op, !ret);
	readahead_touch(&eng->ra, io->die);
	return ret;
}

/* An image of the die that has too many holes loses some before a write. */
static int write_begin(struct io *io, struct image_op *op, uint64_t off,
		       uint64_t len)
{
	struct images *images = &io->eng->images;
	int ret = 0;

	while (!ret && image_room_begin(images, io->die, IO_ZERO_STEP, op))
		ret = clear_hole(io, op);
	return ret ? ret : image_write_begin(images, op, io->die, off, len);
}

static int step_clear(struct io *io)
{
	struct image_op op;
	int ret;

	if (!image_clear_begin(&io->eng->images, &io->file->image, IO_ZERO_STEP,
			       &op))
		return step_sync(io);
	io_mark_written(io->file);
	ret = clear_hole(io, &op);
	return ret ? ret : STEP_MORE;
}

static int step_write(struct io *io)
{
	struct io_engine *eng = io->eng;
	struct io_file *f = io->file;
	struct image_op op;
	int ret;

	ret = io_late_error(io, f);
	if (!ret)
		ret = write_begin(io, &op, io_die_off(f, io->off), io->len);
	if (ret)
		return ret;
	if (!io->was_parked)
		behind_passed(&eng->behind, &f->behind, io_die_off(f, io->off),
			      io->len);
	io_mark_written(f);
	readahead_touch(&eng->ra, io->die);
	ret = backend_write(eng->be, io->die, io_die_off(f, io->off), io->data,
			    io->len);
	io_image_write_end(io, &op, f, !ret);
	if (!ret && io->sync)
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
	uint64_t off = io_die_off(io->file, io->off) + io->done;
	struct image_op op;
	int ret;

	ret = write_begin(io, &op, off, n);
	if (ret)
		return ret;
	if (io->file)
		io_mark_written(io->file);
	readahead_touch(&eng->ra, io->die);
	ret = backend_zero(eng->be, io->die, off, n);
	io_image_write_end(io, &op, io->grows ? io->file : NULL, !ret);
	if (!ret && io->sync)
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
	/* the kernel copies by reading and writing then, a little at a time */
	if (!budget_take(&eng->kept, IO_COPY_MIN))
		return -EXDEV;
	io->stage = pool_map(IO_COPY_MIN);
	io->len = MIN(io->len, (uint64_t)IO_COPY_MIN);
	if (io->stage)
		return 0;
	budget_give(&eng->kept, IO_COPY_MIN);
	return -ENOMEM;
}

void io_stage_drop(struct io *io)
{
	if (!io->stage)
		return;
	if (io->has_large_stage) {
		atomic_flag_clear(&io->eng->is_staging);
	} else {
		munmap(io->stage, IO_COPY_MIN);
		budget_give(&io->eng->kept, IO_COPY_MIN);
	}
	io->stage = NULL;
}

bool io_is_gone(const struct io *io)
{
	return (io->file && io_is_stale(io->eng, io->file)) ||
	       (io->dst && io_is_stale(io->eng, io->dst));
}

static int copy_out(struct io *io, uint64_t at, size_t n)
{
	struct io_file *dst = io->dst;
	uint64_t off = dst->base + io->dst_off + at;
	struct image_op op;
	int ret = write_begin(io, &op, off, n);

	if (ret)
		return ret;
	ret = backend_write(io->eng->be, io->die, off, io->stage + at, n);
	io_image_write_end(io, &op, dst, !ret);
	return ret;
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
		io_mark_written(io->dst);
		readahead_touch(&eng->ra, io->die);
	}
	while (!ret && at < io->len) {
		size_t n = MIN(io->len - at, BACKEND_MAX_CHUNK);

		if (io->req.interrupted)
			ret = -EINTR;
		else if (io_is_gone(io))
			ret = -ESTALE;
		else if (is_writing)
			ret = copy_out(io, at, n);
		else
			ret = read_die(io, io->file->base + io->off + at,
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

int io_step(struct io *io)
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
	case IO_CLEAR:
		return step_clear(io);
	default:
		return step_sync(io);
	}
}
