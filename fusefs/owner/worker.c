/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "owner/program.h"

#define PROGRAM "k80-worker"

/* The longest that a call of libcuda takes is a context on a GPU that was
 * never used: seconds. A worker that is silent for longer hangs. */
#define PATIENCE_MS (120 * 1000)
/* between two looks at a process that ends */
#define LOOK_NS (2 * NSEC_PER_MSEC)

/* descriptors are moved above those that a worker gets, then copied there */
#define ABOVE (WIRE_LEASE + 1)

extern char **environ;

/**
 * struct worker - a process
 * @socket: our end
 * @anchor: pid of the process that outlives it, 0 for none
 */
struct worker {
	struct worker_start how;
	pid_t pid;
	pid_t anchor;
	int socket;
};

/* ---- start ----------------------------------------------------------------- */

/* Of a size that nobody can change: it never gives SIGBUS. */
int worker_memory(unsigned int n_seats, struct wire_shared **shared)
{
	size_t len = n_seats * sizeof(**shared);
	int fd = memfd_create("k80-worker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;
	int ret;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)len) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		goto fail;
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	*shared = map;
	return fd;

fail:
	ret = -errno;
	close(fd);
	return ret;
}

/* The process, with nothing of ours but what @fds and a null for stdio say. */
static int spawn(struct worker *w, const char *path, char *const *args,
		 const int *fds, int n_fds)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	/* of a session of its own: no terminal's or group's signal comes */
	posix_spawnattr_setflags(&attr,
				 POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	for (int fd = 0; fd < WIRE_SOCKET; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null",
						 O_RDWR, 0);
	for (int i = 0; i < n_fds; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i],
						 WIRE_SOCKET + i);
	posix_spawn_file_actions_addclosefrom_np(&actions, WIRE_SOCKET + n_fds);
	ret = -posix_spawn(&w->pid, path, &actions, &attr, args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int start(struct worker *w, const char *path)
{
	const struct worker_start *how = &w->how;
	char die[16], seats[16];
	char *args[] = { PROGRAM,
			 die,
			 seats,
			 (char *)(how->node ? how->node : "-"),
			 (char *)(how->node ? how->bdf : "-"),
			 (char *)(how->devices ? how->devices : "-"),
			 NULL };
	int from[3] = { -1, how->memory, how->lease_fd };
	int n_fds = how->node ? 3 : 2;
	int pair[2], fds[3], n, ret = 0;

	snprintf(die, sizeof(die), "%u", how->die);
	snprintf(seats, sizeof(seats), "%u", how->n_seats);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	w->socket = pair[0];
	from[0] = pair[1];
	for (n = 0; n < n_fds; n++) {
		fds[n] = fcntl(from[n], F_DUPFD_CLOEXEC, ABOVE);
		if (fds[n] < 0) {
			ret = -errno;
			break;
		}
	}
	close(pair[1]);
	if (!ret)
		ret = spawn(w, path, args, fds, n_fds);
	while (n > 0)
		close(fds[--n]);
	return ret;
}

int worker_start(struct worker **out, const struct worker_start *how, int *n_found)
{
	const struct wire_request first = { .op = WIRE_COUNT, .seat = how->seat };
	struct wire_reply reply;
	char path[PATH_MAX];
	struct worker *w;
	int ret;

	*out = NULL;
	ret = program_find(PROGRAM, path);
	if (ret)
		return ret;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->how = *how;
	w->socket = -1;
	*out = w;
	ret = start(w, path);
	if (!ret)
		ret = worker_call(w, &first, &reply);
	if (ret)
		return ret;
	w->anchor = reply.anchor;
	*n_found = reply.value;
	return reply.result;
}

/* ---- ask ------------------------------------------------------------------- */

static int put(struct worker *w, const struct wire_request *req)
{
	ssize_t n;

	do {
		n = send(w->socket, req, sizeof(*req), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*req) ? 0 : -EPIPE;
}

/* The same with descriptors. Returns -EPIPE only if it is gone. */
static int put_fds(struct worker *w, const struct wire_request *req,
		   const int *fds, unsigned int n)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(WIRE_MAX_CHUNKS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)req, sizeof(*req) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t sent;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	do {
		sent = sendmsg(w->socket, &msg, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 0;
	return errno == ECONNRESET ? -EPIPE : -errno;
}

/* Whether something comes, if only the end, before it is known to hang. */
static bool is_heard(struct worker *w)
{
	struct pollfd pfd = { .fd = w->socket, .events = POLLIN };
	uint64_t until = now_ns() + PATIENCE_MS * NSEC_PER_MSEC;
	int ret;

	do {
		uint64_t now = now_ns();

		if (now >= until)
			return false;
		ret = poll(&pfd, 1, (int)((until - now) / NSEC_PER_MSEC) + 1);
	} while (ret <= 0);
	return true;
}

/* The next message; what hangs is killed, and its end waited for. */
static int get(struct worker *w, struct wire_reply *reply)
{
	ssize_t n;

	if (!is_heard(w)) {
		w->how.log(w->how.arg, w->how.seat,
			   "its worker hangs, and is killed", true);
		kill(w->pid, SIGKILL);
		if (!is_heard(w))
			return -EPIPE;
	}
	do {
		n = recv(w->socket, reply, sizeof(*reply), 0);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*reply))
		return -EPIPE;
	reply->text[sizeof(reply->text) - 1] = '\0';
	return 0;
}

/* What it says until its answer. */
static int hear(struct worker *w, const struct wire_request *req,
		struct wire_reply *reply)
{
	const struct wire_request ack = { .op = WIRE_ACK };
	int ret = 0;

	while (!ret) {
		ret = get(w, reply);
		if (ret || reply->kind == WIRE_DONE)
			break;
		w->how.log(w->how.arg, req->seat, reply->text,
			   reply->kind == WIRE_BLAME);
		if (reply->kind == WIRE_STEP)
			ret = put(w, &ack);
	}
	return ret;
}

int worker_call(struct worker *w, const struct wire_request *req,
		struct wire_reply *reply)
{
	int ret = put(w, req);

	return ret ? ret : hear(w, req, reply);
}

int worker_give(struct worker *w, const struct wire_request *req,
		const int *fds, unsigned int n, struct wire_reply *reply)
{
	int ret = put_fds(w, req, fds, n);

	return ret ? ret : hear(w, req, reply);
}

bool worker_is_gone(struct worker *w)
{
	char byte;
	ssize_t n = recv(w->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* ---- end ------------------------------------------------------------------- */

void worker_dismiss(struct worker *w)
{
	const struct wire_request end = { .op = WIRE_END };

	if (w->socket >= 0)
		put(w, &end);
}

/* Until a child of ours has ended, or @deadline. Returns whether it has. */
static bool await_end(pid_t pid, uint64_t deadline)
{
	const struct timespec nap = { .tv_nsec = LOOK_NS };

	if (pid <= 0)
		return true;
	while (!waitpid(pid, NULL, WNOHANG)) {
		if (now_ns() >= deadline)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

int worker_free(struct worker *w, uint64_t deadline)
{
	bool is_left =
		!await_end(w->pid, deadline) || !await_end(w->anchor, deadline);

	if (w->socket >= 0)
		close(w->socket);
	free(w);
	return is_left ? -ETIMEDOUT : 0;
}
