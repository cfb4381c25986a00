/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "backend/backend.h"

#include <errno.h>
#include <string.h>

#include "base/trace.h"
#include "base/util.h"

_Static_assert(BACKEND_MAX_DIES <= TRACE_MAX_DIES, "each has its time");

static const struct backend_ops *const backends[] = {
	&backend_bar_swap,
	&backend_sim,
	&backend_cuda,
};

int backend_open(struct backend *be, const char *name, const char *device)
{
	struct bs_info info;
	int ret;

	memset(be, 0, sizeof(*be));
	for (size_t i = 0; i < ARRAY_SIZE(backends); i++)
		if (!strcmp(backends[i]->name, name))
			be->ops = backends[i];
	if (!be->ops)
		return -EINVAL;
	ret = be->ops->open(be, device);
	if (ret)
		return ret;
	for (unsigned int die = 0; die < be->n_dies; die++) {
		ret = be->ops->info(be, die, &info);
		if (ret) {
			be->ops->close(be);
			return ret;
		}
		be->dies[die].vram_bytes = info.vram_bytes;
		be->dies[die].len = info.vram_bytes + info.resmem_bytes;
		if (!be->dies[die].space)
			be->dies[die].space = be->dies[die].len;
		atomic_store(&be->dies[die].generation, info.generation);
	}
	return 0;
}

void backend_close(struct backend *be)
{
	be->ops->close(be);
}

/* Why a die in this condition must not be copied from or to. */
static int condition_errno(const struct bs_info *info)
{
	if (!info->alive || info->state == BS_STATE_DEAD ||
	    info->state == BS_STATE_NO_VRAM)
		return -EIO;
	if (info->bar1_mode == BS_MODE_VIRTUAL || *info->driver)
		return -EBUSY;
	return 0;
}

int backend_info(struct backend *be, unsigned int die, struct bs_info *info)
{
	struct backend_die *d;
	int ret;

	if (die >= be->n_dies)
		return -ENODEV;
	d = &be->dies[die];
	ret = be->ops->info(be, die, info);
	if (ret)
		return ret;
	atomic_store(&d->last_seen_errno, condition_errno(info));
	atomic_store_explicit(&d->generation, info->generation,
			      memory_order_release);
	return 0;
}

uint64_t backend_others(struct backend *be, unsigned int die)
{
	uint64_t own = die < be->n_dies ? be->dies[die].acquires : 0;
	struct bs_info info;

	return backend_info(be, die, &info) ? 0 : info.acquires - own;
}

int backend_condition(struct backend *be, unsigned int die)
{
	struct bs_info info;
	int ret = backend_info(be, die, &info);

	return ret ? ret : condition_errno(&info);
}

int backend_bind(struct backend *be, unsigned int die, unsigned int flags)
{
	uint64_t before, start, took;
	struct bs_info info;
	int ret;

	if (die >= be->n_dies)
		return -ENODEV;
	ret = be->ops->info(be, die, &info);
	if (ret)
		return ret;
	before = info.swaps_in;
	start = now_ns();
	ret = be->ops->bind(be, die, flags);
	took = now_ns() - start;
	if (backend_info(be, die, &info))
		return ret ? ret : -ENODEV;
	if (info.swaps_in != before) {
		atomic_fetch_add(&be->swaps, 1);
		atomic_fetch_add(&be->swap_counts[metrics_bucket(took)], 1);
		atomic_fetch_add(&be->swap_ns, took);
		trace_add(&(struct trace_span){ .kind = TRACE_SWAP,
						.die = die,
						.start = start,
						.end = start + took });
	}
	if (ret != -EAGAIN)
		trace_slot(ret ? -1 : (int)die);
	return ret;
}

int backend_unbind(struct backend *be, unsigned int die)
{
	int ret;

	if (die >= be->n_dies)
		return -ENODEV;
	ret = be->ops->unbind(be, die);
	if (!ret)
		trace_slot(-1);
	return ret;
}

void backend_rest(struct backend *be, unsigned int die)
{
	if (die < be->n_dies)
		be->ops->rest(be, die);
}

static int check_access(struct backend *be, unsigned int die, uint64_t off,
			uint64_t len)
{
	if (die >= be->n_dies)
		return -ENODEV;
	if (off > be->dies[die].space || len > be->dies[die].space - off)
		return -EINVAL;
	/* most copies need no look: the backend asks after each of them */
	return atomic_load(&be->dies[die].last_seen_errno)
		       ? backend_condition(be, die)
		       : 0;
}

/* What passes by itself, or is the caller's fault, is no error of the die. */
static int count_error(struct backend *be, unsigned int die, int ret)
{
	if ((ret == -EIO || ret == -ENODEV) && die < be->n_dies)
		atomic_fetch_add(&be->dies[die].errors, 1);
	return ret;
}

static int end_copy(struct backend *be, unsigned int die, enum trace_kind kind,
		    uint64_t start, uint64_t len, int ret)
{
	if (!ret)
		trace_add(&(struct trace_span){ .kind = kind,
						.die = die,
						.start = start,
						.end = now_ns(),
						.bytes = len });
	return count_error(be, die, ret);
}

int backend_read(struct backend *be, unsigned int die, uint64_t off, void *buf,
		 size_t len)
{
	uint64_t start = now_ns();
	int ret = check_access(be, die, off, len);

	for (size_t done = 0; !ret && done < len;) {
		size_t n = MIN(len - done, BACKEND_MAX_CHUNK);

		ret = be->ops->read(be, die, off + done, (char *)buf + done, n);
		done += n;
	}
	if (!ret)
		atomic_fetch_add(&be->dies[die].read_bytes, len);
	return end_copy(be, die, TRACE_READ, start, len, ret);
}

int backend_lend(struct backend *be, unsigned int die, void *reader,
		 uint64_t off, size_t len, struct backend_loan *loan)
{
	uint64_t start = now_ns();
	int ret = check_access(be, die, off, len);

	if (!ret)
		ret = be->ops->lend(be, die, reader, off, len, loan);
	if (!ret)
		atomic_fetch_add(&be->dies[die].read_bytes, len);
	return end_copy(be, die, TRACE_READ, start, len, ret);
}

void backend_give_back(struct backend *be, unsigned int die,
		       struct backend_loan *loan)
{
	be->ops->give_back(be, die, loan);
}

void *backend_reader_new(struct backend *be, unsigned int die)
{
	return be->ops->reader_new ? be->ops->reader_new(be, die) : NULL;
}

void backend_reader_end(struct backend *be, unsigned int die, void *reader)
{
	if (reader)
		be->ops->reader_end(be, die, reader);
}

void backend_push(struct backend *be, unsigned int die)
{
	if (be->ops->push)
		be->ops->push(be, die);
}

void *backend_request_buf(struct backend *be, size_t len)
{
	return be->ops->request_buf ? be->ops->request_buf(be, len) : NULL;
}

int backend_lease_fd(struct backend *be)
{
	return be->ops->lease_fd ? be->ops->lease_fd(be) : -1;
}

int backend_write(struct backend *be, unsigned int die, uint64_t off,
		  const void *buf, size_t len)
{
	uint64_t start = now_ns();
	int ret = check_access(be, die, off, len);

	for (size_t done = 0; !ret && done < len;) {
		size_t n = MIN(len - done, BACKEND_MAX_CHUNK);

		ret = be->ops->write(be, die, off + done,
				     (const char *)buf + done, n);
		done += n;
	}
	if (!ret)
		atomic_fetch_add(&be->dies[die].written_bytes, len);
	return end_copy(be, die, TRACE_WRITE, start, len, ret);
}

int backend_zero(struct backend *be, unsigned int die, uint64_t off, uint64_t len)
{
	uint64_t start = now_ns(), all = len;
	int ret = check_access(be, die, off, len);

	while (!ret && len) {
		uint64_t n = MIN(len, (uint64_t)BACKEND_MAX_CHUNK * 256);

		ret = be->ops->zero(be, die, off, n);
		off += n;
		len -= n;
	}
	return end_copy(be, die, TRACE_ZERO, start, all, ret);
}

int backend_sync(struct backend *be, unsigned int die)
{
	int ret = check_access(be, die, 0, 0);

	if (!ret)
		ret = be->ops->sync(be, die);
	return count_error(be, die, ret);
}

bool backend_has_chunks(const struct backend *be, unsigned int die)
{
	return die < be->n_dies && be->ops->has_chunks &&
	       be->ops->has_chunks(be, die);
}

void backend_chunk_why(struct backend *be, unsigned int die, char *buf, size_t len)
{
	*buf = '\0';
	if (die < be->n_dies && be->ops->chunk_why)
		be->ops->chunk_why(be, die, buf, len);
}

uint64_t backend_chunk_unit(struct backend *be, unsigned int die)
{
	return be->ops->chunk_unit(be, die);
}

/* A length or an offset of the space that a chunk can have. */
static bool fits(struct backend *be, unsigned int die, uint64_t value)
{
	return !(value % be->ops->chunk_unit(be, die)) &&
	       value <= be->dies[die].space;
}

int backend_chunk_make(struct backend *be, unsigned int die, uint64_t len,
		       struct backend_chunk *out)
{
	if (!backend_has_chunks(be, die))
		return -EOPNOTSUPP;
	if (!len || !fits(be, die, len))
		return -EINVAL;
	return be->ops->chunk_make(be, die, len, out);
}

int backend_chunk_import(struct backend *be, unsigned int die, int fd,
			 uint64_t len, struct backend_chunk *out)
{
	if (!backend_has_chunks(be, die))
		return -EOPNOTSUPP;
	if (!len || !fits(be, die, len))
		return -EINVAL;
	return be->ops->chunk_import(be, die, fd, len, out);
}

int backend_chunk_map(struct backend *be, unsigned int die,
		      struct backend_chunk *c, uint64_t off)
{
	if (!fits(be, die, off) || c->len > be->dies[die].space - off ||
	    off < be->dies[die].len)
		return -EINVAL;
	return be->ops->chunk_map(be, die, c, off);
}

int backend_chunk_unmap(struct backend *be, unsigned int die,
			struct backend_chunk *c)
{
	if (c->off == BACKEND_NOWHERE)
		return 0;
	backend_forget(be, die, c->off, c->len);
	return be->ops->chunk_unmap(be, die, c);
}

void backend_chunk_free(struct backend *be, unsigned int die,
			struct backend_chunk *c)
{
	be->ops->chunk_free(be, die, c);
}

void backend_forget(struct backend *be, unsigned int die, uint64_t off,
		    uint64_t len)
{
	be->ops->forget(be, die, off, len);
}

void backend_reader_limit(struct backend *be, unsigned int die, void *reader,
			  uint64_t from, uint64_t to)
{
	if (reader && be->ops->reader_limit)
		be->ops->reader_limit(be, die, reader, from,
				      MIN(to, be->dies[die].space));
}

static bool overlap(uint64_t a, uint64_t b, uint64_t len)
{
	return a < b + len && b < a + len;
}

int backend_copy(struct backend *be, unsigned int die_from, uint64_t from,
		 unsigned int die_to, uint64_t to, uint64_t len)
{
	uint64_t start = now_ns();
	int ret = check_access(be, die_from, from, len);

	if (!ret)
		ret = check_access(be, die_to, to, len);
	if (!ret && !be->ops->copy)
		ret = -EOPNOTSUPP;
	if (!ret && (len > BACKEND_MAX_COPY ||
		     (die_from == die_to && overlap(from, to, len))))
		ret = -EINVAL;
	if (!ret && len)
		ret = be->ops->copy(be, die_from, from, die_to, to, len);
	if (!ret) {
		atomic_fetch_add(&be->dies[die_from].read_bytes, len);
		atomic_fetch_add(&be->dies[die_to].written_bytes, len);
	}
	return end_copy(be, die_to, TRACE_WRITE, start, len, ret);
}

int backend_uuid(struct backend *be, unsigned int die,
		 uint8_t uuid[BACKEND_UUID_LEN])
{
	if (die >= be->n_dies)
		return -ENODEV;
	return be->ops->uuid ? be->ops->uuid(be, die, uuid) : -EOPNOTSUPP;
}

int backend_free_memory(struct backend *be, unsigned int die,
			uint64_t *available, uint64_t *total)
{
	if (die >= be->n_dies)
		return -ENODEV;
	return be->ops->free_memory
		       ? be->ops->free_memory(be, die, available, total)
		       : -EOPNOTSUPP;
}

int backend_vram_fd(struct backend *be, unsigned int die)
{
	return die < be->n_dies && be->ops->vram_fd ? be->ops->vram_fd(be, die)
						    : -1;
}
