/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/uring.h"

#include <stddef.h>
#include <string.h>

bool uring_is_new_enough(const char *version)
{
	return strverscmp(version, URING_LIBFUSE) >= 0;
}

const char *uring_obstacle(const struct uring_facts *f)
{
	if (!f->is_built)
		return "this k80fs was built with a libfuse before " URING_LIBFUSE;
	if (!uring_is_new_enough(f->libfuse))
		return "libfuse is older than " URING_LIBFUSE;
	if (!f->has_liburing)
		return "this libfuse was built without liburing";
	if (!f->kernel)
		return "the kernel has none for FUSE, which needs Linux 6.14";
	if (f->kernel != 'Y')
		return "off in the kernel; as root: echo Y >/sys/module/fuse/parameters/enable_uring";
	if (f->has_compute)
		return "not with compute: who waits for a kernel could not be interrupted";
	if (f->has_slot && !f->has_depth)
		return "not for dies that take turns, unless io_uring_q_depth= is given too";
	return NULL;
}

bool uring_wait(struct uring_queue *q, bool is_long)
{
	unsigned int spare = is_long ? URING_SPARE_LONG : URING_SPARE;
	unsigned int had = atomic_fetch_add(&q->waiting, 1);

	if (had + spare < q->depth)
		return true;
	atomic_fetch_sub(&q->waiting, 1);
	return false;
}

void uring_wait_end(struct uring_queue *q)
{
	atomic_fetch_sub(&q->waiting, 1);
}
