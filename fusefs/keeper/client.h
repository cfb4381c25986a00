/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keeper/ - the program that holds what outlives its makers, and how to talk
 * to it: kept.c and serve.c are the program's, client.c and start.c of whoever
 * uses it.
 * May use: base.
 * Must not know: CUDA, FUSE, what a table says, whose memory a descriptor is.
 *
 * A connection to k80-keeper. A *pool* is what belongs to one device: chunks,
 * that is descriptors with a number, a table and an anchor. GPU memory lives
 * as long as a descriptor that was exported of it, whoever holds it; so what
 * the keeper has acknowledged outlives the process that made it.
 */
#ifndef KEEPER_CLIENT_H
#define KEEPER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KEEPER_UUID_LEN 33 /* 32 digits 0-9a-f and a NUL */

/* what the mount and the program take where no other place is said; of others
 * than root "$XDG_RUNTIME_DIR/k80fs-keeper.sock" */
#define KEEPER_SOCKET "/run/k80fs/keeper.sock"

struct keeper;

/**
 * struct keeper_chunk - one descriptor to be kept
 * @id:  not 0; of one pool every id is another one
 * @fd:  a character device, a memfd or a file of a tmpfs; all else is refused
 * @len: bytes, for --status alone
 */
struct keeper_chunk {
	uint64_t id;
	int fd;
	uint64_t len;
};

/**
 * struct keeper_pool - what is kept for one device
 * @n_bytes: the sum of what was said of its chunks
 * @holder:  pid of who has claimed it, 0 for nobody
 */
struct keeper_pool {
	char uuid[KEEPER_UUID_LEN];
	uint64_t n_chunks, n_bytes;
	bool has_table, has_anchor;
	pid_t holder;
};

/*
 * Every call is one question and one answer after the other, from any thread,
 * and waits for at most half a minute. -EPIPE: the keeper has died, did not
 * answer in that time, or answered nonsense; so will every later call of this
 * connection, and keeper_fd() says so too. -EINVAL: a uuid, an id or a
 * descriptor that cannot be one. What fails has changed nothing.
 */

/**
 * keeper_default() - where the keeper of this user listens
 * @path: out
 *
 * Return: 0; -ENOENT not root, and no $XDG_RUNTIME_DIR; -ENAMETOOLONG.
 */
int keeper_default(char *path, size_t len);

/**
 * keeper_open() - connect
 * @socket_path: NULL: keeper_default()
 * @may_start:   if nobody listens there start one: by systemd where it runs,
 * its unit is installed, we are root and the path is KEEPER_SOCKET; else
 * k80-keeper from beside this program or from ../sbin, which goes on by itself
 * @why:         out: on failure a line that says what was tried, else empty
 *
 * To be called in the process that stays: the keeper knows its client by the
 * process that connected. The connection is closed by exec.
 * Return: 0; -ECONNREFUSED nobody listens; -EACCES a keeper, or a folder, of
 * another user; -EPROTO a keeper of another version; -ENOENT there is no
 * default; -errno.
 */
int keeper_open(struct keeper **out, const char *socket_path, bool may_start,
		char *why, size_t len);

/**
 * keeper_close() - end the connection, and with it its claims
 * @k: may be NULL
 *
 * What it holds stays.
 */
void keeper_close(struct keeper *k);

/**
 * keeper_claim() - be the only one who changes a pool, until keeper_close()
 * @holder: out: with -EBUSY the pid of who is it; may be NULL
 *
 * A pool need not be there before. Whoever dies has closed.
 * Return: 0, also if this connection has it; -EBUSY; -ENOSPC too many pools.
 */
int keeper_claim(struct keeper *k, const char *uuid, pid_t *holder);

/**
 * keeper_table() - what keeper_set_table() put there last
 * @fd: out: a descriptor of the caller's
 *
 * Return: 0; -ENOENT there is none.
 */
int keeper_table(struct keeper *k, const char *uuid, int *fd);

/**
 * keeper_set_table() - keep a table in place of the one before
 * @fd: a memfd; stays the caller's
 *
 * Return: 0; -EPERM not claimed; -ENFILE.
 */
int keeper_set_table(struct keeper *k, const char *uuid, int fd);

/**
 * keeper_put() - keep chunks
 * @n: any number; all are kept or none is
 *
 * The descriptors stay the caller's.
 * Return: 0: they are kept; -EPERM not claimed; -EEXIST one of the ids is
 * there; -ENFILE the keeper may have no more descriptors; -ETOOMANYREFS too
 * many descriptors of this user are on their way; -ENOMEM.
 */
int keeper_put(struct keeper *k, const char *uuid,
	       const struct keeper_chunk *chunks, unsigned int n);

/**
 * keeper_drop() - keep chunks no longer
 * @n: any number; of each KEEPER_BATCH, in order, all go or none does
 *
 * Return: 0; -EPERM not claimed; -ENOENT one of the ids is not there.
 */
int keeper_drop(struct keeper *k, const char *uuid, const uint64_t *ids,
		unsigned int n);
#define KEEPER_BATCH 240 /* the kernel takes 253 descriptors, SCM_MAX_FD */

/**
 * keeper_each() - a descriptor of every chunk of a pool, by increasing id
 * @found: gets a descriptor that is its own, whatever it returns; anything but
 *         0 ends the search
 *
 * Return: 0, also if there is no such pool; what @found returned; -EMFILE this
 * process may have no more descriptors.
 */
int keeper_each(struct keeper *k, const char *uuid,
		int (*found)(void *arg, uint64_t id, int fd), void *arg);

/**
 * keeper_anchor() - keep an open device while the pool has chunks or a claim
 * @fd: a character device, in place of the one before; stays the caller's
 *
 * Return: 0; -EPERM not claimed; -ENFILE.
 */
int keeper_anchor(struct keeper *k, const char *uuid, int fd);

/**
 * keeper_pools() - what is kept, by uuid
 * @found: anything but 0 ends the search
 *
 * Return: 0; what @found returned.
 */
int keeper_pools(struct keeper *k,
		 int (*found)(void *arg, const struct keeper_pool *pool),
		 void *arg);

/**
 * keeper_free() - let go of all that a pool has: its files are gone
 * @holder: out: with -EBUSY the pid of who has claimed it; may be NULL
 *
 * Return: 0; -EBUSY; -ENOENT there is no such pool.
 */
int keeper_free(struct keeper *k, const char *uuid, pid_t *holder);

/** keeper_fd() - to poll for POLLHUP (events 0): the keeper has died */
int keeper_fd(const struct keeper *k);

/** keeper_pid() - of the program */
pid_t keeper_pid(const struct keeper *k);

#endif /* KEEPER_CLIENT_H */
