/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of k80fs: by ioctl on the open file, then over its socket.
 * Failures are in k80_error().
 */
#ifndef K80MEM_ASK_H
#define K80MEM_ASK_H

#include <stddef.h>

#include "k80mem/wire.h"

#define ASK_UUID_TEXT 41 /* "GPU-" and 36 characters, NUL */

/**
 * ask_token() - a right to the file's memory
 * Return: 0; -ENOTTY no file of k80fs's memory; -EACCES; -ENOSPC; -EAGAIN; ...
 */
int ask_token(int fd, struct k80_share *share);

/** ask_where() - on which device the file is. 0; -ENOTTY; ... */
int ask_where(int fd, struct k80_where *where);

/**
 * struct ask_taker - who takes the chunks
 * @begin: once, before the first chunk
 * @chunk: each, in order; @fd is open during the call. Either may refuse, with
 *         an -errno, and then nothing follows
 */
struct ask_taker {
	int (*begin)(void *arg, const struct k80_head *head);
	int (*chunk)(void *arg, uint64_t len, int fd);
	void *arg;
};

/**
 * ask_chunks() - spend the token
 * Return: 0: all have come, as many and as long together as the head said;
 * -ECONNREFUSED, -EPROTO, -ETIMEDOUT, -EMFILE; what @taker or the server says.
 */
int ask_chunks(const struct k80_share *share, const struct ask_taker *taker);

/** ask_uuid() - "GPU-01234567-..." */
void ask_uuid(const uint8_t uuid[K80_UUID_LEN], char text[ASK_UUID_TEXT]);

#endif /* K80MEM_ASK_H */
