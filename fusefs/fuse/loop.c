/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session's threads: read a request, run it, read the next one.
 *
 * libfuse has such a loop. This one lets the backend say where a request is
 * read to, so that what is written needs no copy on its way to a device; and
 * its threads stay, as their buffers do.
 *
 * Where no request waits for a slot, waking a thread takes longer than all the
 * rest: a blocked read(2) takes 20 us to return, a copy of 128 KiB takes 10. So
 * a thread there looks for its next request without sleeping, for a short time
 * after the last one, and there are only as many of them as do any good.
 */
#include "fuse/loop.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "fuse/end.h"
#include "fuse/fs.h"

/* as many as libfuse has by default: what waits for a turn holds none */
#define LOOP_THREADS 10

/* without a slot: a client's gap between two blocks of 1 MiB is shorter */
#define SPIN_NS       (400 * NSEC_PER_USEC)
#define SPIN_THREADS  5
#define SPIN_MIN_CPUS 4

/* what stands before the data of a WRITE */
#define HEAD_LEN (sizeof(struct fuse_in_header) + sizeof(struct fuse_write_in))

/* a page more than the longest WRITE's data */
#define REQUEST_LEN(page) (OPTIONS_MAX_REQUEST + (page))

struct loop;

struct loop_thread {
	struct loop *loop;
	pthread_t id;
};

struct loop {
	struct fs *fs;
	size_t page;
	_Atomic int error;
	bool spins;
	struct loop_thread threads[LOOP_THREADS];
};

/* Where the next request goes: its data, if it has any, starts a page. */
static char *request_place(struct loop *loop)
{
	size_t len = REQUEST_LEN(loop->page) + loop->page;
	char *mem = backend_request_buf(&loop->fs->be, len);

	if (!mem)
		mem = pool_request_buf();
	return mem ? mem + loop->page - HEAD_LEN : NULL;
}

/* Until there is a request, or for so long that none may come. */
static void await_request(struct fuse_session *se)
{
	struct pollfd fd = { .fd = fuse_session_fd(se), .events = POLLIN };
	uint64_t end = now_ns() + SPIN_NS;

	while (!fuse_session_exited(se) && !poll(&fd, 1, 0) && now_ns() < end)
		;
}

/*
 * What read(2) of /dev/fuse gave. A connection that ends while a thread takes a
 * request from it, as its last RELEASE often is, says ECONNABORTED.
 */
static int look_at_result(ssize_t n)
{
	if (n >= (ssize_t)sizeof(struct fuse_in_header))
		return (int)n;
	if (n >= 0)
		return -EIO;
	switch (errno) {
	case ENOENT: /* interrupted before it was read */
	case EAGAIN:
		return -EINTR;
	case ENODEV:
	case ECONNABORTED:
		return 0;
	default:
		return -errno;
	}
}

/*
 * The end of the session cancels a thread that is blocked in here.
 *
 * Return: the length of the request; 0: there is no connection any more;
 * -EINTR: try again; or -errno.
 */
static int receive(struct loop_thread *t, struct fuse_buf *buf)
{
	struct loop *loop = t->loop;
	struct fuse_session *se = loop->fs->se;
	int ret = 0;

	if (loop->spins)
		await_request(se);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (!fuse_session_exited(se))
		ret = look_at_result(read(fuse_session_fd(se), buf->mem,
					  REQUEST_LEN(loop->page)));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	if (ret > 0)
		buf->size = (size_t)ret;
	return ret;
}

static void *loop_run(void *arg)
{
	struct loop_thread *t = arg;
	struct loop *loop = t->loop;
	struct fuse_session *se = loop->fs->se;
	int ret = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	while (!fuse_session_exited(se)) {
		struct fuse_buf buf = { .mem = request_place(loop) };

		if (!buf.mem) {
			ret = -ENOMEM;
			break;
		}
		ret = receive(t, &buf);
		if (ret == -EINTR)
			continue;
		if (ret <= 0)
			break;
		fuse_session_process_buf(se, &buf);
	}
	if (ret < 0) {
		log_err("reading requests: %s", strerror(-ret));
		loop->error = ret;
	}
	fuse_session_exit(se);
	fs_end_wake(loop->fs);
	return NULL;
}

int fs_loop(struct fs *fs)
{
	struct loop loop = { .fs = fs, .page = (size_t)sysconf(_SC_PAGESIZE) };
	unsigned int n;
	int ret = 0;

	loop.spins = !fs->be.ops->has_slot &&
		     sysconf(_SC_NPROCESSORS_ONLN) >= SPIN_MIN_CPUS;
	for (n = 0; n < (loop.spins ? SPIN_THREADS : LOOP_THREADS); n++) {
		loop.threads[n].loop = &loop;
		ret = -pthread_create(&loop.threads[n].id, NULL, loop_run,
				      &loop.threads[n]);
		if (ret)
			break;
	}
	/* some of them are enough */
	if (n)
		fs_end_await(fs);
	for (unsigned int i = 0; i < n; i++)
		pthread_cancel(loop.threads[i].id);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(loop.threads[i].id, NULL);
	fuse_session_reset(fs->se);
	return n ? loop.error : ret;
}
