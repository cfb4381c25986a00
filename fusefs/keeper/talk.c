/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keeper/talk.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void take_fds(struct msghdr *msg, struct talk *t)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(msg); head; head = CMSG_NXTHDR(msg, head)) {
		size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(t->fds, CMSG_DATA(head), n * sizeof(int));
		t->n_fds = n;
	}
}

/* Returns 1: a question; 0: none yet; -errno: the client has gone. */
static int receive(int fd, struct talk *t)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TALK_MAX_FDS * sizeof(int))];
	} control;
	struct iovec iov = { &t->ask, sizeof(t->ask) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n =
		recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return -EPIPE;
	take_fds(&msg, t);
	t->is_short = msg.msg_flags & MSG_CTRUNC;
	/* with MSG_TRUNC its whole length, which check() refuses if too long */
	t->len = (size_t)n;
	return 1;
}

static bool has_unread_answer(int fd)
{
	int unread = 0;

	return ioctl(fd, SIOCOUTQ, &unread) || unread;
}

int talk_receive(int fd, struct talk *t)
{
	int ret;

	memset(t, 0, sizeof(*t));
	ret = receive(fd, t);
	if (ret > 0 && has_unread_answer(fd)) {
		talk_close(t);
		return -EPROTO;
	}
	return ret;
}

void talk_close(struct talk *t)
{
	for (size_t i = 0; i < t->n_fds; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
	t->n_fds = 0;
}

static int send_answer(int fd, const struct talk *t, size_t n_fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(KEEPER_BATCH * sizeof(int))];
	} control;
	struct iovec iov = { (void *)&t->answer,
			     offsetof(struct keeper_answer, ids) +
				     t->answer.n * sizeof(*t->answer.ids) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n_fds) {
		memset(&control, 0, sizeof(control));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), t->out_fds, n_fds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int talk_answer(int fd, struct talk *t, int error)
{
	int ret;

	t->answer.version = KEEPER_VERSION;
	t->answer.error = error;
	if (error) {
		t->answer.n = 0;
		t->n_out_fds = 0;
	}
	ret = send_answer(fd, t, t->n_out_fds);
	if (ret != -ETOOMANYREFS)
		return ret;
	t->answer.error = ret;
	t->answer.n = 0;
	return send_answer(fd, t, 0);
}
