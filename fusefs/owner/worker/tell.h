/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's end of its socket.
 */
#ifndef OWNER_WORKER_TELL_H
#define OWNER_WORKER_TELL_H

#include <stdbool.h>

#include "owner/wire.h"

/**
 * tell_ask() - wait for the next request
 * @fds: out: descriptors that came with it, @map.n of struct wire_request of a
 *       WIRE_MAP and none with others; WIRE_MAX_CHUNKS entries, the caller's;
 *       NULL: none can come
 *
 * Return: false if whoever started this program is gone, or is another version.
 */
bool tell_ask(struct wire_request *req, int *fds);

/**
 * tell_step() - say what is about to be done, and return when that is logged
 *
 * A machine that hangs in the step says in its log where. If nobody is left to
 * log it the worker goes on: the request ends, and then it finds out.
 */
void tell_step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tell_say() - a line of the log */
void tell_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tell_blame() - a line about what failed; the last one is shown in status */
void tell_blame(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** tell_done() - answer the request; its kind is set here */
void tell_done(struct wire_reply *reply);

#endif /* OWNER_WORKER_TELL_H */
