/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One question of a client and its answer, as packets.
 */
#ifndef KEEPER_TALK_H
#define KEEPER_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "keeper/wire.h"

/* descriptors that one packet can have: SCM_MAX_FD of the kernel */
#define TALK_MAX_FDS 253

/**
 * struct talk - a question and its answer
 * @uuid:     of the question, as a string
 * @fds:      that came with it; who keeps one puts -1 there
 * @is_short: the kernel had to leave some out
 * @out_fds:  that go with the answer; they stay the pool's
 */
struct talk {
	struct keeper_ask ask;
	size_t len;
	char uuid[KEEPER_UUID_LEN];
	int fds[TALK_MAX_FDS];
	size_t n_fds;
	bool is_short;
	struct keeper_answer answer;
	int out_fds[KEEPER_BATCH];
	size_t n_out_fds;
};

/**
 * talk_receive() - a question, without a wait
 * @t: out: its descriptors are to be closed by talk_close()
 *
 * Return: 1; 0 there is none yet; -errno the client has gone, or has asked
 * before it had read the last answer.
 */
int talk_receive(int fd, struct talk *t);

/**
 * talk_answer() - send the answer, without a wait
 * @error: 0 or -errno
 *
 * Return: 0; -errno the client is not there, or cannot be answered.
 */
int talk_answer(int fd, struct talk *t, int error);

/** talk_close() - close the descriptors that nobody has kept */
void talk_close(struct talk *t);

#endif /* KEEPER_TALK_H */
