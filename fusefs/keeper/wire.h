/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client and k80-keeper say to each other: one packet of a UNIX socket
 * (SOCK_SEQPACKET) a question, and one the answer. A client reads the answer
 * before it asks again; one that does not is disconnected.
 */
#ifndef KEEPER_WIRE_H
#define KEEPER_WIRE_H

#include <stdint.h>

#include "keeper/client.h"

#define KEEPER_VERSION 1

#define KEEPER_DIGITS (KEEPER_UUID_LEN - 1)

enum keeper_op {
	KEEPER_HELLO = 1,
	KEEPER_CLAIM,
	KEEPER_TABLE, /* answered with one descriptor */
	KEEPER_SET_TABLE, /* asked with one */
	KEEPER_PUT, /* asked with one for each item */
	KEEPER_DROP,
	KEEPER_EACH, /* answered with one for each id */
	KEEPER_ANCHOR, /* asked with one */
	KEEPER_POOLS,
	KEEPER_FREE,
};

struct keeper_item {
	uint64_t id;
	uint64_t len;
};

/* more of this put follows: nothing is kept before the last part has come */
#define KEEPER_MORE 1

/**
 * struct keeper_ask - a question: as long as its items need
 * @version: KEEPER_VERSION; stays the first word in every version
 * @n:       items: of PUT and DROP 1 to KEEPER_BATCH, else 0; the length of an
 *           item of DROP is 0
 * @flags:   of PUT: KEEPER_MORE or 0
 * @from:    of EACH: ids above; of POOLS: how many to leave out; else 0
 * @uuid:    of HELLO and POOLS zeros
 */
struct keeper_ask {
	uint32_t version;
	uint16_t op;
	uint16_t n;
	uint32_t flags;
	uint32_t zero;
	uint64_t from;
	char uuid[KEEPER_DIGITS];
	struct keeper_item items[KEEPER_BATCH];
};

/* what a pool has besides chunks */
#define KEEPER_HAS_TABLE  1
#define KEEPER_HAS_ANCHOR 2

/**
 * struct keeper_answer - as long as its ids need
 * @version: KEEPER_VERSION; stays the first word in every version
 * @error:   0 or -errno; -ENOENT of POOLS: there are no more
 * @n:       of EACH: ids, and descriptors; none: there are no more
 * @holder:  of POOLS, and with -EBUSY
 * @uuid:    and @n_chunks, @n_bytes, @flags: of POOLS
 */
struct keeper_answer {
	uint32_t version;
	int32_t error;
	uint32_t n;
	int32_t holder;
	uint64_t n_chunks, n_bytes, flags;
	char uuid[KEEPER_DIGITS];
	uint64_t ids[KEEPER_BATCH];
};

#endif /* KEEPER_WIRE_H */
