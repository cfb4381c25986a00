/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of mem files: decode, hand down, one reply.
 */
#include "fuse/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <stdlib.h>

#include "base/util.h"
#include "fuse/attr.h"
#include "fuse/fs.h"
#include "fuse/inval.h"
#include "mem/mem.h"

/* What is answered once pages that it made old are gone. */
struct answer {
	struct fs_inval job;
	struct fuse_req *req;
	ssize_t result; /* bytes; 0 of a request that has none */
};

static void reply(fuse_req_t req, ssize_t result)
{
	if (result < 0)
		fuse_reply_err(req, (int)-result);
	else if (result)
		fuse_reply_write(req, (size_t)result);
	else
		fuse_reply_err(req, 0);
}

static void on_inval(struct fs_inval *job)
{
	struct answer *a = container_of(job, struct answer, job);

	reply(a->req, a->result);
	free(a);
}

/* @ino: which has other bytes now in [@off, @off + @len) */
static void reply_changed(fuse_req_t req, uint64_t ino, bool has_pages,
			  off_t off, off_t len, ssize_t result)
{
	struct fs *fs = fuse_req_userdata(req);
	struct answer *a = has_pages ? calloc(1, sizeof(*a)) : NULL;

	if (!a) {
		reply(req, result);
		return;
	}
	a->req = req;
	a->result = result;
	a->job.ino = ino;
	a->job.off = off;
	a->job.len = len;
	a->job.then = on_inval;
	fs_inval_queue(fs, &a->job);
}

static void reply_mem_changed(fuse_req_t req, struct fs_file *f, off_t off,
			      off_t len, ssize_t result)
{
	reply_changed(req, mem_ino(f->mem), *mem_mark(f->mem), off, len, result);
}

/* The kernel leaves it to us to clear set-id bits. */
static void clear_set_id(fuse_req_t req, struct mem_file *mem)
{
	struct mem_stat st;
	mode_t mode;

	if (!fuse_req_ctx(req)->uid)
		return;
	mem_stat(mem, &st);
	mode = fs_without_set_id(st.mode);
	if (mode == st.mode)
		return;
	st.mode = mode;
	mem_setattr(mem, &st, MEM_SET_MODE);
}

int fs_mem_open(struct fs *fs, struct fs_file *f, uint64_t ino)
{
	f->mem = mem_get(fs->mem, ino);
	if (!f->mem)
		return -ENOENT;
	f->reader = mem_reader_new(f->mem);
	f->io.lost = backend_lost(&fs->be, mem_die(f->mem));
	f->io.sync = fs->opts->sync || (f->flags & (O_SYNC | O_DSYNC));
	return f->reader ? 0 : -ENOMEM;
}

void fs_mem_close(struct fs_file *f)
{
	mem_reader_end(f->reader);
	mem_put(f->mem);
}

void fs_mem_read(fuse_req_t req, struct fs_file *f, size_t size, off_t off,
		 bool is_cached)
{
	struct mem_loan loan;
	ssize_t n;

	/* before the bytes are looked at: a write after that drops the page */
	if (is_cached)
		*mem_mark(f->mem) = true;
	n = mem_read(f->reader, (uint64_t)off, size, &loan);
	if (n < 0) {
		fuse_reply_err(req, (int)-n);
		return;
	}
	fuse_reply_buf(req, loan.data, (size_t)n);
	mem_give_back(&loan);
}

/* A write that was answered and did not reach the device is told once. */
static int sync_file(struct fs *fs, struct fs_file *f)
{
	uint64_t lost;
	int ret = mem_sync(f->mem);

	lost = backend_lost(&fs->be, mem_die(f->mem));
	if (atomic_exchange(&f->io.lost, lost) != lost)
		return -EIO;
	return ret;
}

void fs_mem_write(fuse_req_t req, struct fs_file *f, const char *buf,
		  size_t size, off_t off, int flags)
{
	struct fs *fs = fuse_req_userdata(req);
	unsigned int die = mem_die(f->mem);
	ssize_t n;

	f->was_written = true;
	n = mem_write(f->mem, (uint64_t)off, buf, size);
	if (n > 0) {
		clear_set_id(req, f->mem);
		if (f->io.sync || (flags & (O_SYNC | O_DSYNC))) {
			int ret = sync_file(fs, f);

			n = ret ? ret : n;
		}
	}
	reply_mem_changed(req, f, off, (off_t)size, n);
	/* the file may be closed by now */
	backend_push(&fs->be, die);
}

void fs_mem_sync(fuse_req_t req, struct fs_file *f, bool is_close)
{
	struct fs *fs = fuse_req_userdata(req);
	int ret = 0;

	if (atomic_exchange(&f->was_written, false) || !is_close)
		ret = sync_file(fs, f);
	if (ret)
		f->was_written = true;
	fuse_reply_err(req, -ret);
}

void fs_mem_fallocate(fuse_req_t req, struct fs_file *f, int mode, off_t off,
		      off_t len)
{
	bool keeps_len = mode & FALLOC_FL_KEEP_SIZE;
	uint64_t at = (uint64_t)off, n = (uint64_t)len;
	int ret;

	switch (mode & ~FALLOC_FL_KEEP_SIZE) {
	case 0:
		ret = mem_allocate(f->mem, at, n, keeps_len);
		break;
	case FALLOC_FL_ZERO_RANGE:
		ret = mem_zero(f->mem, at, n, keeps_len);
		break;
	case FALLOC_FL_PUNCH_HOLE:
		ret = mem_punch(f->mem, at, n);
		break;
	default:
		ret = -EOPNOTSUPP;
	}
	if (!ret)
		clear_set_id(req, f->mem);
	f->was_written = true;
	reply_mem_changed(req, f, off, len, ret);
}

void fs_mem_lseek(fuse_req_t req, struct fs_file *f, off_t off, int whence)
{
	off_t at = off < 0 ? -ENXIO : mem_seek(f->mem, (uint64_t)off, whence);

	if (at < 0)
		fuse_reply_err(req, (int)-at);
	else
		fuse_reply_lseek(req, at);
}

static struct mem_place place_of(struct fs_file *f, off_t off)
{
	return (struct mem_place){
		.file = f->mem,
		.die = f->mem ? mem_die(f->mem) : f->io.die,
		.off = f->mem ? (uint64_t)off : f->io.base + (uint64_t)off,
	};
}

/* Holes of a new image read as zeroes, but the memory has other bytes yet. */
static bool has_image_holes(struct fs *fs, const struct mem_place *p, uint64_t len)
{
	struct range *holes = NULL;
	int n = image_holes(&fs->io.images, p->die, p->off, len, &holes);

	free(holes);
	return n != 0;
}

/*
 * What is written is a range of the image as a whole or not at all: a copy that
 * is shorter than it was said to be is made again.
 */
static ssize_t copy_to_vram(struct fs *fs, const struct mem_place *from,
			    const struct mem_place *to, struct fs_file *out,
			    uint64_t len)
{
	struct images *images = &fs->io.images;
	ssize_t n = (ssize_t)min_u64(len, BACKEND_MAX_COPY);
	struct image_op op;
	uint64_t tried;
	int ret;

	if (image_is_full(images, to->die))
		return -EOPNOTSUPP;
	do {
		tried = (uint64_t)n;
		ret = image_write_begin(images, &op, to->die, to->off, tried);
		if (ret)
			return ret;
		n = mem_copy(from, to, tried);
		image_write_end(images, &op, &out->io.image, n == (ssize_t)tried);
	} while (n > 0 && (uint64_t)n < tried);
	out->io.wrote = out->io.has_written = true;
	readahead_touch(&fs->io.ra, to->die);
	return n;
}

/* All of its pages: a hole of its image may have come to be before it. */
static void reply_vram_changed(fuse_req_t req, struct fs_file *f, ssize_t n)
{
	struct fs *fs = fuse_req_userdata(req);
	uint64_t ino = f->node->ino;

	if (n > 0)
		fs_attr_touch(fs, ino, fuse_req_ctx(req)->uid);
	reply_changed(req, ino, fs_inval_needed(fs, ino), 0, 0, n);
}

static void reply_copied(fuse_req_t req, struct fs_file *out, off_t off, ssize_t n)
{
	if (n == 0)
		fuse_reply_write(req, 0);
	else if (n < 0)
		fuse_reply_err(req, (int)-n);
	else if (out->mem)
		reply_mem_changed(req, out, off, n, n);
	else
		reply_vram_changed(req, out, n);
}

/* Of what lies inside a vram; 0: nothing to do. */
static int clamp(const struct fs_file *f, off_t off, int at_end, uint64_t *len)
{
	if (off < 0)
		return -EINVAL;
	if (f->mem || !*len)
		return 0;
	if ((uint64_t)off >= f->io.len) {
		*len = 0;
		return at_end;
	}
	*len = min_u64(*len, f->io.len - (uint64_t)off);
	return 0;
}

void fs_mem_copy(fuse_req_t req, struct fs_file *in, off_t off_in,
		 struct fs_file *out, off_t off_out, size_t size)
{
	struct mem_place from = place_of(in, off_in);
	struct mem_place to = place_of(out, off_out);
	struct fs *fs = fuse_req_userdata(req);
	uint64_t len = size;
	ssize_t n;

	n = clamp(in, off_in, 0, &len);
	if (!n)
		n = clamp(out, off_out, -ENOSPC, &len);
	/* the kernel goes on with read and write */
	if (!n && len && !in->mem && has_image_holes(fs, &from, len))
		n = -EOPNOTSUPP;
	if (!n && len)
		n = out->mem ? mem_copy(&from, &to, len)
			     : copy_to_vram(fs, &from, &to, out, len);
	out->was_written = true;
	if (n > 0 && out->mem)
		clear_set_id(req, out->mem);
	reply_copied(req, out, off_out, n);
}
