/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives the memory of files to other programs: whoever has a token gets the
 * descriptors of the file's chunks over a socket.
 *
 * The token is the right, so anybody may connect. One thread serves all, waits
 * for nobody, and takes no descriptor from anyone: one of the daemon's own
 * mount, held by it at its death, would make that mount hang for good.
 */
#ifndef K80FS_MEM_SHARE_H
#define K80FS_MEM_SHARE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "k80mem/wire.h"

struct mem_file;
struct mem_share;
struct share;

#define SHARE_TOKEN_NS    (10 * NSEC_PER_SEC) /* a token is good for so long */
#define SHARE_MAX_TOKENS  256
#define SHARE_UID_TOKENS  32 /* of one user */
#define SHARE_CLIENT_NS   (30 * NSEC_PER_SEC) /* a client may take so long */
#define SHARE_MAX_CLIENTS 32
#define SHARE_UID_CLIENTS 8

/**
 * struct share_source - where files are: the calls of mem.h
 * @count, @put: one more, or less, counts on it
 * @get, @free:  as mem_share_get() and mem_share_free()
 */
struct share_source {
	void (*count)(struct mem_file *f);
	void (*put)(struct mem_file *f);
	int (*get)(struct mem_file *f, struct mem_share *out);
	void (*free)(struct mem_share *s);
};

/**
 * share_start() - listen
 * @dir:    where the socket is made, as share.*.sock; those that daemons left
 *          there which are gone are removed
 * @source: immutable
 *
 * Return: 0; -ENAMETOOLONG; -errno.
 */
int share_start(struct share **out, const char *dir,
		const struct share_source *source);

/** share_stop() - end every conversation and forget the tokens; NULL: nothing */
void share_stop(struct share *s);

/** share_path() - of the socket */
const char *share_path(const struct share *s);

/**
 * share_token() - make a right to a file's memory
 * @uid: who asks; has the file open for reading and writing
 * @out: out: on success
 *
 * Fills the file's holes. Any thread.
 *
 * Return: 0; -EAGAIN too many are not spent yet; what @source's get says.
 */
int share_token(struct share *s, struct mem_file *f, uid_t uid,
		struct k80_share *out);

#endif /* K80FS_MEM_SHARE_H */
