/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests over io_uring instead of /dev/fuse.
 *
 * libfuse then has a thread for each CPU that runs the handlers of what that
 * CPU asks for, one after the other, and the bytes of a request lie in memory
 * that the ring keeps until the answer: a read is copied to where the kernel
 * takes it from. What is different for us:
 *
 * - A handler that takes long would hold up its CPU's queue: what is longer
 *   than one request has threads of its own, as ever.
 * - Something that waits keeps its entry, see uring.h.
 * - libfuse tells nobody of signals that come for a request in a ring.
 * - At the end of its own loops libfuse frees the rings, and with them the
 *   requests that still wait to be answered. Ours leaves them alone, and they
 *   are given back after the last answer.
 */
#include "fuse/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "fuse/call.h"
#include "fuse/fs.h"

#define KERNEL_SWITCH "/sys/module/fuse/parameters/enable_uring"

/* FUSE_HOTFIX_VERSION is not there before 3.17 */
#if defined(FUSE_CAP_OVER_IO_URING) && defined(FUSE_HOTFIX_VERSION) && \
	FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18) &&                    \
	(FUSE_VERSION > FUSE_MAKE_VERSION(3, 18) || FUSE_HOTFIX_VERSION >= 3)
#define IS_BUILT 1
#else
#define IS_BUILT 0
#endif

static int is_liburing(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	return strstr(info->dlpi_name, "/liburing") != NULL;
}

static void look_at_libfuse(struct uring_facts *facts)
{
	facts->is_built = IS_BUILT;
	facts->libfuse = fuse_pkgversion();
	/* no function of libfuse tells, but it brings the library along */
	facts->has_liburing = dl_iterate_phdr(is_liburing, NULL);
}

static char kernel_switch(void)
{
	char c = '\0';
	int fd;

	/* loads the module, if it is one */
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	fd = open(KERNEL_SWITCH, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	if (read(fd, &c, 1) != 1)
		c = '\0';
	close(fd);
	return c;
}

bool fs_uring_is_possible(void)
{
	struct uring_facts facts = { .kernel = 'Y' };

	look_at_libfuse(&facts);
	return !uring_obstacle(&facts);
}

int fs_uring_choose(struct fs *fs, struct fuse_args *args)
{
	const struct options *o = fs->opts;
	struct uring_facts facts = {
		.has_slot = fs->be.ops->has_slot,
		.has_depth = o->uring_depth > 0,
		.has_compute = o->compute,
	};
	const char *obstacle;
	char depth[40];

	if (!o->uring)
		return 0;
	look_at_libfuse(&facts);
	facts.kernel = kernel_switch();
	obstacle = uring_obstacle(&facts);
	if (obstacle) {
		log_warn("io_uring: %s; using /dev/fuse", obstacle);
		return 0;
	}
	/* libfuse makes one for each of these */
	fs->uring.queues =
		calloc((size_t)get_nprocs_conf(), sizeof(*fs->uring.queues));
	if (!fs->uring.queues)
		return -ENOMEM;
	fs->uring.depth = o->uring_depth ? o->uring_depth : URING_DEPTH;
	snprintf(depth, sizeof(depth), "-oio_uring_q_depth=%u", fs->uring.depth);
	if (fuse_opt_add_arg(args, "-oio_uring") || fuse_opt_add_arg(args, depth))
		return -ENOMEM;
	return 0;
}

#if IS_BUILT

void fs_uring_init(struct fs *fs, struct fuse_conn_info *conn)
{
	/* libfuse also has a variable of the environment for it */
	if (!fs->uring.depth)
		conn->want &= ~(unsigned int)FUSE_CAP_OVER_IO_URING;
	else if (conn->capable & FUSE_CAP_OVER_IO_URING)
		conn->no_interrupt = 1; /* it would pile them up */
}

/* The queue of the thread that runs a ring; NULL on all others. */
static _Thread_local struct uring_queue *my_queue;

static struct uring_queue *queue_of_thread(struct fs *fs)
{
	if (my_queue)
		return my_queue;
	/* It is told to end by an event, and also cancelled, which must not
	 * happen in a handler. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	my_queue = &fs->uring.queues[atomic_fetch_add(&fs->uring.n_queues, 1)];
	my_queue->depth = fs->uring.depth;
	return my_queue;
}

void fs_uring_note(struct fs *fs, fuse_req_t req)
{
	if (!fs->uring.depth || !fuse_req_is_uring(req))
		return;
	queue_of_thread(fs);
	if (!atomic_exchange(&fs->uring.is_live, true))
		fs->transport = "io_uring";
}

void fs_uring_call(struct fs_call *call)
{
	char *payload;
	size_t room;

	if (call->queue || !call->fs->uring.depth ||
	    !fuse_req_is_uring(call->req))
		return;
	call->queue = queue_of_thread(call->fs);
	if (call->io.op == IO_READ &&
	    !fuse_req_get_payload(call->req, &payload, &room, NULL) &&
	    room >= call->io.len)
		call->io.to = payload;
}

#else

void fs_uring_init(struct fs *fs, struct fuse_conn_info *conn)
{
	(void)fs;
	(void)conn;
}

void fs_uring_note(struct fs *fs, fuse_req_t req)
{
	(void)fs;
	(void)req;
}

void fs_uring_call(struct fs_call *call)
{
	(void)call;
}

#endif

int fs_uring_wait(struct fs_call *call)
{
	if (!call->queue || call->is_waiting)
		return 0;
	if (!uring_wait(call->queue, call->io.req.is_long))
		/* the kernel copies in pieces then */
		return call->io.op == IO_COPY ? -EXDEV : -EBUSY;
	call->is_waiting = true;
	return 0;
}

void fs_uring_answered(struct fs_call *call)
{
	if (call->is_waiting)
		uring_wait_end(call->queue);
	call->is_waiting = false;
}

void fs_uring_stop(struct fs *fs)
{
	if (!fs->uring.is_live)
		return;
	/* our loop has cleared it */
	fuse_session_exit(fs->se);
	/* of a session that is over, it only frees the rings */
	fuse_session_loop(fs->se);
}
