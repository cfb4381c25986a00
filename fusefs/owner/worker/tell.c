/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/worker/tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

static void put(struct wire_reply *reply)
{
	while (send(WIRE_SOCKET, reply, sizeof(*reply), MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		;
}

bool tell_ask(struct wire_request *req)
{
	ssize_t n;

	do {
		n = recv(WIRE_SOCKET, req, sizeof(*req), 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*req);
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
	tell_ask(&ack);
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
