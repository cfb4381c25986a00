/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A k80-keeper of one's own, the program itself, for a test. */
#ifndef KEEPER_FIXTURE_H
#define KEEPER_FIXTURE_H

#include <stdint.h>
#include <sys/types.h>

#include "keeper/client.h"

#define POOL  "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"

extern struct keeper *keeper; /* connected, and has claimed nothing */
extern const char *keeper_path;
extern char keeper_why[512];

/** keeper_setup() - a keeper in a folder of its own, and a connection */
void keeper_setup(void);

/** keeper_setup_limited() - the same, which may have 1024 descriptors */
void keeper_setup_limited(void);

/** keeper_teardown() - end it */
void keeper_teardown(void);

/** keeper_connect() - a further connection, to a keeper that is there */
struct keeper *keeper_connect(void);

/** keeper_end() - send it a signal, and wait for its end */
void keeper_end(int sig);

/** keeper_n_fds() - descriptors that the keeper has open */
int keeper_n_fds(void);

/** memory_of() - a memfd that says @number, for memory_number() */
int memory_of(uint64_t number);

/** memory_number() - what it says; closes it */
uint64_t memory_number(int fd);

/** put_ids() - @n chunks from @first on, all of one memory_of(@first) */
int put_ids(struct keeper *k, uint64_t first, unsigned int n);

/** count_ids() - what POOL has; fails unless it is @first and those behind it */
unsigned int count_ids(struct keeper *k, uint64_t first);

/** pool_of() - what is said of a pool; all 0 if there is none */
struct keeper_pool pool_of(struct keeper *k, const char *uuid);

#endif /* KEEPER_FIXTURE_H */
