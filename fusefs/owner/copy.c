/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buffers of a die that is online: copy in and out, check results.
 */
#include <errno.h>
#include <string.h>

#include "owner/priv.h"
#include "owner/work.h"

/* Between the stage and a buffer of an idle die; waits, as only copies do. */
static int copy_staged(struct owner *o, unsigned int die, enum owner_buffer which,
		       size_t off, size_t len, bool is_write, uint64_t *sync_ns)
{
	struct wire_request req = {
		.op = WIRE_COPY,
		.buffer = which,
		.is_write = is_write,
		.off = off,
		.len = len,
	};
	struct wire_reply reply;
	int ret;

	ret = owner_enter(o, die);
	if (ret)
		return ret;
	ret = owner_call(o, die, &req, &reply);
	owner_leave(o, die);
	if (!ret)
		*sync_ns = reply.sync_ns;
	return ret;
}

int owner_verify(struct owner *o, unsigned int die, struct owner_result *result)
{
	struct owner_die *d = &o->dies[die];
	struct owner_result r;
	size_t first = 0;
	int ret;

	ret = owner_check_idle(o, die);
	if (ret)
		return ret;
	if (!d->has_work)
		return -ENODATA;
	owner_say(o, die, "copy of the results");
	ret = copy_staged(o, die, OWNER_OUT, 0, OWNER_BYTES, false, &r.sync_ns);
	if (ret)
		return ret;
	r.seed = d->seed;
	r.iters = d->iters;
	r.n_wrong = work_count_wrong((const float *)d->shared->stage,
				     OWNER_FLOATS, r.seed, r.iters, &first);
	pthread_mutex_lock(&d->lock);
	d->view.verified = !r.n_wrong;
	d->view.sync_ns = r.sync_ns;
	pthread_mutex_unlock(&d->lock);
	if (r.n_wrong)
		owner_blame(o, die, "%zu of %u results wrong, the first at %zu",
			    r.n_wrong, OWNER_FLOATS, first);
	*result = r;
	return 0;
}

int owner_read(struct owner *o, unsigned int die, enum owner_buffer which,
	       size_t off, void *buf, size_t len)
{
	uint64_t sync_ns;
	int ret;

	ret = owner_check_idle(o, die);
	if (!ret)
		ret = copy_staged(o, die, which, off, len, false, &sync_ns);
	if (!ret)
		memcpy(buf, o->dies[die].shared->stage, len);
	return ret;
}

int owner_write(struct owner *o, unsigned int die, enum owner_buffer which,
		size_t off, const void *buf, size_t len)
{
	uint64_t sync_ns;
	int ret;

	ret = owner_check_idle(o, die);
	if (ret)
		return ret;
	memcpy(o->dies[die].shared->stage, buf, len);
	return copy_staged(o, die, which, off, len, true, &sync_ns);
}
