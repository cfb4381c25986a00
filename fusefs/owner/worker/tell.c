/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void put(struct wire_reply *reply)
{
	while (send(WIRE_SOCKET, reply, sizeof(*reply), MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		;
}

bool tell_ask(struct wire_request *req, int *fds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(WIRE_MAX_CHUNKS * sizeof(int))];
	} control;
	struct iovec iov = { req, sizeof(*req) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	size_t n_fds = 0;
	ssize_t n;

	if (fds) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	do {
		n = recvmsg(WIRE_SOCKET, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c) {
		n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), n_fds * sizeof(int));
	}
	return n == (ssize_t)sizeof(*req) &&
	       n_fds == (req->op == WIRE_MAP ? req->map.n : 0);
}

static void __attribute__((format(printf, 2, 0)))
line(enum wire_kind kind, const char *fmt, va_list ap)
{
	struct wire_reply reply = { .kind = kind };

	vsnprintf(reply.text, sizeof(reply.text), fmt, ap);
	put(&reply);
}

void tell_step(const char *fmt, ...)
{
	struct wire_request ack;
	va_list ap;

	va_start(ap, fmt);
	line(WIRE_STEP, fmt, ap);
	va_end(ap);
	tell_ask(&ack, NULL);
}

void tell_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(WIRE_SAY, fmt, ap);
	va_end(ap);
}

void tell_blame(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(WIRE_BLAME, fmt, ap);
	va_end(ap);
}

void tell_done(struct wire_reply *reply)
{
	reply->kind = WIRE_DONE;
	put(reply);
}
