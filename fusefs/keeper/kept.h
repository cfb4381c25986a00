/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the keeper keeps: pools of descriptors. Knows no socket and no client
 * but as an address.
 */
#ifndef KEEPER_KEPT_H
#define KEEPER_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keeper/client.h"

#define KEPT_MAX_POOLS 64

/**
 * struct kept_pool - what belongs to one device
 * @chunks: @n of them, by id
 * @table:  -1 for none, as @anchor
 * @holder: the client that has claimed it, @holder_pid its process
 */
struct kept_pool {
	char uuid[KEEPER_UUID_LEN];
	struct keeper_chunk *chunks;
	size_t n;
	int table, anchor;
	const void *holder;
	pid_t holder_pid;
};

/**
 * struct kept - all of it
 * @pools: by uuid
 */
struct kept {
	struct kept_pool *pools[KEPT_MAX_POOLS];
	size_t n_pools;
};

/** kept_find() - NULL: there is none */
struct kept_pool *kept_find(const struct kept *k, const char *uuid);

/** kept_fds() - how many descriptors all pools have */
size_t kept_fds(const struct kept *k);

/** kept_bytes() - of the chunks of a pool */
uint64_t kept_bytes(const struct kept_pool *p);

/**
 * kept_claim() - make @who the holder of a pool, which is made if need be
 *
 * Return: 0; -EBUSY somebody else is it; -ENOSPC too many pools; -ENOMEM.
 */
int kept_claim(struct kept *k, const char *uuid, const void *who, pid_t pid);

/** kept_leave() - @who has gone: its claims end */
void kept_leave(struct kept *k, const void *who);

/**
 * kept_put() - add chunks
 * @chunks: sorted by id by the call; their descriptors are the pool's on success
 *
 * Return: 0; -EEXIST an id is there, or twice among them; -ENOMEM.
 */
int kept_put(struct kept_pool *p, struct keeper_chunk *chunks, size_t n);

/**
 * kept_drop() - close chunks, all or none
 * @ids: sorted by the call
 *
 * Return: 0; -ENOENT an id is not there, or twice among them.
 */
int kept_drop(struct kept_pool *p, uint64_t *ids, size_t n);

/** kept_above() - index of the first chunk whose id is above @id */
size_t kept_above(const struct kept_pool *p, uint64_t id);

/** kept_replace() - put @fd in the place of *@slot, which is closed */
void kept_replace(int *slot, int fd);

/** kept_free() - close all that a pool has */
void kept_free(struct kept *k, struct kept_pool *p);

#endif /* KEEPER_KEPT_H */
