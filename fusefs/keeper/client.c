/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/util.h"
#include "keeper/start.h"
#include "keeper/wire.h"

/* the longest that an answer takes: far more than any does on a machine that
 * is not out of order */
#define PATIENCE_S 30

/* another client's keeper may be about to listen */
#define CONNECT_PATIENCE_NS (10 * NSEC_PER_SEC)
#define CONNECT_PAUSE_NS    (10 * NSEC_PER_MSEC)

/**
 * struct keeper - a connection
 * @lock: one question at a time, a put with all its parts
 */
struct keeper {
	int fd;
	pid_t pid;
	pthread_mutex_t lock;
};

/**
 * struct exchange - a question, and the answer
 * @fds:     that go with the question
 * @in_fds:  that came with the answer: the caller's; never more than it may
 *           have
 */
struct exchange {
	struct keeper_ask ask;
	int fds[KEEPER_BATCH];
	size_t n_fds;
	struct keeper_answer answer;
	int in_fds[KEEPER_BATCH];
	size_t n_in_fds;
};

/* ---- one question ---------------------------------------------------------- */

/* It says goodbye for good: what it would answer later is nobody's answer. */
static int give_up(struct keeper *k)
{
	shutdown(k->fd, SHUT_RDWR);
	return -EPIPE;
}

static void close_fds(struct exchange *x)
{
	for (size_t i = 0; i < x->n_in_fds; i++)
		close(x->in_fds[i]);
	x->n_in_fds = 0;
}

static int send_ask(struct keeper *k, struct exchange *x)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(KEEPER_BATCH * sizeof(int))];
	} control;
	struct iovec iov = { &x->ask, offsetof(struct keeper_ask, items) +
					      x->ask.n * sizeof(*x->ask.items) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (x->n_fds) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(x->n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), x->fds, x->n_fds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(x->n_fds * sizeof(int));
	}
	do
		n = sendmsg(k->fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 0;
	/* of these nothing was sent */
	if (errno == ETOOMANYREFS || errno == EBADF || errno == ENOMEM)
		return errno == EBADF ? -EINVAL : -errno;
	return give_up(k);
}

static void take_fds(struct msghdr *msg, struct exchange *x)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(msg); head; head = CMSG_NXTHDR(msg, head)) {
		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		x->n_in_fds = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(x->in_fds, CMSG_DATA(head), x->n_in_fds * sizeof(int));
	}
}

/* Returns what the keeper answered, or -errno. */
static int receive_answer(struct keeper *k, struct exchange *x)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(KEEPER_BATCH * sizeof(int))];
	} control;
	struct iovec iov = { &x->answer, sizeof(x->answer) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	size_t least = offsetof(struct keeper_answer, ids);
	ssize_t n;

	x->n_in_fds = 0;
	do
		n = recvmsg(k->fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(x->answer.version))
		return give_up(k);
	take_fds(&msg, x);
	if (x->answer.version != KEEPER_VERSION) {
		give_up(k);
		return -EPROTO;
	}
	if ((size_t)n < least || x->answer.n > KEEPER_BATCH ||
	    x->answer.error > 0 ||
	    (size_t)n != least + x->answer.n * sizeof(*x->answer.ids))
		return give_up(k);
	if (msg.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	return x->answer.error;
}

/* On failure no descriptor is left. */
static int exchange(struct keeper *k, struct exchange *x, size_t n_in_fds)
{
	int ret;

	x->n_in_fds = 0;
	x->ask.version = KEEPER_VERSION;
	ret = send_ask(k, x);
	if (ret)
		return ret;
	ret = receive_answer(k, x);
	if (!ret &&
	    x->n_in_fds != (x->ask.op == KEEPER_EACH ? x->answer.n : n_in_fds))
		ret = give_up(k);
	if (ret)
		close_fds(x);
	return ret;
}

static int set_uuid(struct exchange *x, const char *uuid)
{
	if (strnlen(uuid, KEEPER_UUID_LEN) != KEEPER_DIGITS)
		return -EINVAL;
	memcpy(x->ask.uuid, uuid, KEEPER_DIGITS);
	return 0;
}

/* A question with a uuid and at most one descriptor each way. */
static int ask(struct keeper *k, struct exchange *x, enum keeper_op op,
	       const char *uuid, size_t n_in_fds)
{
	int ret = set_uuid(x, uuid);

	if (ret)
		return ret;
	x->ask.op = op;
	pthread_mutex_lock(&k->lock);
	ret = exchange(k, x, n_in_fds);
	pthread_mutex_unlock(&k->lock);
	return ret;
}

/* ---- the connection -------------------------------------------------------- */

int keeper_default(char *path, size_t len)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	int n;

	if (geteuid() && (!dir || *dir != '/'))
		return -ENOENT;
	if (geteuid())
		n = snprintf(path, len, "%s/k80fs-keeper.sock", dir);
	else
		n = snprintf(path, len, "%s", KEEPER_SOCKET);
	return n < (int)len ? 0 : -ENAMETOOLONG;
}

static int try_connect(const char *path)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(name.sun_path))
		return -ENAMETOOLONG;
	strcpy(name.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
	    !connect(fd, (struct sockaddr *)&name, sizeof(name)))
		return fd;
	ret = errno == ENOENT ? -ECONNREFUSED : -errno;
	close(fd);
	return ret;
}

/* A keeper that was just started listens soon, and so does one that somebody
 * else has started. */
static int connect_soon(const char *path)
{
	const struct timespec pause = { .tv_nsec = CONNECT_PAUSE_NS };
	uint64_t until = now_ns() + CONNECT_PATIENCE_NS;
	int fd;

	while ((fd = try_connect(path)) == -ECONNREFUSED && now_ns() < until)
		nanosleep(&pause, NULL);
	return fd;
}

/* Nobody else gets our memory, whoever listens there. */
static int greet(struct keeper *k)
{
	struct exchange x = { .ask.op = KEEPER_HELLO };
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return -errno;
	if (who.uid && who.uid != geteuid())
		return -EACCES;
	k->pid = who.pid;
	return exchange(k, &x, 0);
}

static int open_fd(const char *path, bool may_start, char *why, size_t len)
{
	int fd = try_connect(path);

	if (fd != -ECONNREFUSED || !may_start)
		return fd;
	if (start_keeper(path, why, len))
		return -ECONNREFUSED;
	return connect_soon(path);
}

static int open_keeper(struct keeper **out, const char *path, bool may_start,
		       char *why, size_t len)
{
	struct keeper *k = malloc(sizeof(*k));
	int ret;

	if (!k)
		return -ENOMEM;
	k->fd = open_fd(path, may_start, why, len);
	if (k->fd < 0) {
		ret = k->fd;
		free(k);
		return ret;
	}
	pthread_mutex_init(&k->lock, NULL);
	ret = greet(k);
	if (ret) {
		keeper_close(k);
		return ret;
	}
	*why = '\0';
	*out = k;
	return 0;
}

int keeper_open(struct keeper **out, const char *socket_path, bool may_start,
		char *why, size_t len)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int ret;

	*why = '\0';
	if (!socket_path) {
		ret = keeper_default(path, sizeof(path));
		if (ret) {
			snprintf(why, len,
				 "$XDG_RUNTIME_DIR is not set: no place for k80-keeper");
			return ret;
		}
		socket_path = path;
	}
	ret = open_keeper(out, socket_path, may_start, why, len);
	if (ret && !*why)
		snprintf(why, len, "k80-keeper at %s: %s", socket_path,
			 ret == -EACCES   ? "another user's"
			 : ret == -EPROTO ? "of another version"
			 : ret == -EPIPE
				 ? "does not answer, or has too many clients"
				 : strerror(-ret));
	return ret;
}

void keeper_close(struct keeper *k)
{
	if (!k)
		return;
	close(k->fd);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

int keeper_fd(const struct keeper *k)
{
	return k->fd;
}

pid_t keeper_pid(const struct keeper *k)
{
	return k->pid;
}

/* ---- the questions --------------------------------------------------------- */

int keeper_claim(struct keeper *k, const char *uuid, pid_t *holder)
{
	struct exchange x = { 0 };
	int ret = ask(k, &x, KEEPER_CLAIM, uuid, 0);

	if (ret == -EBUSY && holder)
		*holder = x.answer.holder;
	return ret;
}

int keeper_table(struct keeper *k, const char *uuid, int *fd)
{
	struct exchange x = { 0 };
	int ret = ask(k, &x, KEEPER_TABLE, uuid, 1);

	if (!ret)
		*fd = x.in_fds[0];
	return ret;
}

static int give_fd(struct keeper *k, enum keeper_op op, const char *uuid, int fd)
{
	struct exchange x = { .fds = { fd }, .n_fds = 1 };

	return ask(k, &x, op, uuid, 0);
}

int keeper_set_table(struct keeper *k, const char *uuid, int fd)
{
	return give_fd(k, KEEPER_SET_TABLE, uuid, fd);
}

int keeper_anchor(struct keeper *k, const char *uuid, int fd)
{
	return give_fd(k, KEEPER_ANCHOR, uuid, fd);
}

int keeper_put(struct keeper *k, const char *uuid,
	       const struct keeper_chunk *chunks, unsigned int n)
{
	struct exchange x = { .ask.op = KEEPER_PUT };
	struct exchange end = { .ask.op = KEEPER_HELLO };
	int ret = set_uuid(&x, uuid);

	pthread_mutex_lock(&k->lock);
	while (n && !ret) {
		unsigned int now = MIN(n, (unsigned int)KEEPER_BATCH);

		for (unsigned int i = 0; i < now; i++) {
			x.ask.items[i].id = chunks[i].id;
			x.ask.items[i].len = chunks[i].len;
			x.fds[i] = chunks[i].fd;
		}
		x.ask.n = (uint16_t)now;
		x.n_fds = now;
		x.ask.flags = n > now ? KEEPER_MORE : 0;
		ret = exchange(k, &x, 0);
		chunks += now;
		n -= now;
	}
	/* a question that is no part of it ends a put whose parts were sent */
	if (ret)
		exchange(k, &end, 0);
	pthread_mutex_unlock(&k->lock);
	return ret;
}

int keeper_drop(struct keeper *k, const char *uuid, const uint64_t *ids,
		unsigned int n)
{
	struct exchange x = { 0 };
	int ret = 0;

	while (n && !ret) {
		unsigned int now = MIN(n, (unsigned int)KEEPER_BATCH);

		for (unsigned int i = 0; i < now; i++)
			x.ask.items[i].id = ids[i];
		x.ask.n = (uint16_t)now;
		ret = ask(k, &x, KEEPER_DROP, uuid, 0);
		ids += now;
		n -= now;
	}
	return ret;
}

int keeper_each(struct keeper *k, const char *uuid,
		int (*found)(void *arg, uint64_t id, int fd), void *arg)
{
	struct exchange x = { 0 };
	int ret;

	do {
		ret = ask(k, &x, KEEPER_EACH, uuid, 0);
		for (size_t i = 0; !ret && i < x.answer.n; i++) {
			x.ask.from = x.answer.ids[i];
			ret = found(arg, x.answer.ids[i], x.in_fds[i]);
			/* those behind it are nobody's */
			for (size_t rest = i + 1; ret && rest < x.answer.n; rest++)
				close(x.in_fds[rest]);
		}
	} while (!ret && x.answer.n);
	return ret;
}

int keeper_pools(struct keeper *k,
		 int (*found)(void *arg, const struct keeper_pool *pool),
		 void *arg)
{
	struct exchange x = { .ask.op = KEEPER_POOLS };
	int ret;

	for (;; x.ask.from++) {
		struct keeper_pool p = { .uuid = "" };

		pthread_mutex_lock(&k->lock);
		ret = exchange(k, &x, 0);
		pthread_mutex_unlock(&k->lock);
		if (ret)
			return ret == -ENOENT ? 0 : ret;
		memcpy(p.uuid, x.answer.uuid, KEEPER_DIGITS);
		p.n_chunks = x.answer.n_chunks;
		p.n_bytes = x.answer.n_bytes;
		p.has_table = x.answer.flags & KEEPER_HAS_TABLE;
		p.has_anchor = x.answer.flags & KEEPER_HAS_ANCHOR;
		p.holder = x.answer.holder;
		ret = found(arg, &p);
		if (ret)
			return ret;
	}
}

int keeper_free(struct keeper *k, const char *uuid, pid_t *holder)
{
	struct exchange x = { 0 };
	int ret = ask(k, &x, KEEPER_FREE, uuid, 0);

	if (ret == -EBUSY && holder)
		*holder = x.answer.holder;
	return ret;
}
