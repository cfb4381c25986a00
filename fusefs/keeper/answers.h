/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each question of a client does to what is kept.
 */
#ifndef KEEPER_ANSWERS_H
#define KEEPER_ANSWERS_H

#include <stddef.h>
#include <sys/types.h>

#include "keeper/kept.h"
#include "keeper/talk.h"

/**
 * struct client - a connection
 * @staged: chunks of a put whose last part has not come
 */
struct client {
	int fd;
	pid_t pid;
	struct keeper_chunk *staged;
	size_t n_staged;
	char staged_for[KEEPER_DIGITS];
};

/**
 * struct store - what is kept for all clients
 * @n_staged: chunks of all clients' unfinished puts
 * @max_fds:  descriptors that pools and unfinished puts may have
 */
struct store {
	struct kept kept;
	size_t n_staged;
	size_t max_fds;
};

/**
 * answers_run() - check a question and do what it asks
 * @t: what of its descriptors is kept is -1 after it
 *
 * Return: 0 or -errno, to be answered. What fails has changed nothing, but that
 * an unfinished put is forgotten.
 */
int answers_run(struct store *s, struct client *c, struct talk *t);

/** answers_leave() - a client has gone: its claims and unfinished puts end */
void answers_leave(struct store *s, struct client *c);

#endif /* KEEPER_ANSWERS_H */
