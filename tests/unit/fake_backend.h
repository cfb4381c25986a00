/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware for tests of what stands on a backend: dies in memory, whose calls
 * are counted, can be held up, and can be told to fail.
 *
 * There is one at a time. It also watches what backend.h asks of its callers:
 * binds one at a time and with no copy under way, copies only while the die is
 * bound. All may be called from any thread.
 */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"

enum fake_call {
	FAKE_BIND,
	FAKE_UNBIND,
	FAKE_REST,
	FAKE_READ,
	FAKE_WRITE,
	FAKE_ZERO,
	FAKE_SYNC,
	FAKE_N_CALLS,
};

#define FAKE_ANY_DIE (-1)
#define FAKE_SCRAP   0xee /* what a reset leaves at the start of the memory */

/**
 * fake_open() - make the dies; nothing is bound
 * @be:    out: as backend_open() leaves it
 * @bytes: memory of each die
 */
void fake_open(struct backend *be, unsigned int n_dies, size_t bytes);

/** fake_close() - opens every gate and frees the memory */
void fake_close(void);

/** fake_mem() - memory of a die */
unsigned char *fake_mem(unsigned int die);

/** fake_hold() - from now on calls of this kind stop before their work */
void fake_hold(enum fake_call call);

/** fake_let_go() - those that are held up, and later ones, go on */
void fake_let_go(enum fake_call call);

/** fake_let_one_go() - one of those that are held up goes on */
void fake_let_one_go(enum fake_call call);

/** fake_n_held() - how many are held up now */
unsigned int fake_n_held(enum fake_call call);

/** fake_fail() - the next @n calls of this kind on @die fail with @error */
void fake_fail(enum fake_call call, unsigned int die, int error, unsigned int n);

/** fake_count() - calls made so far, failed ones too; FAKE_ANY_DIE: all */
unsigned int fake_count(enum fake_call call, int die);

/** fake_bind_flags() - flags of the last bind */
unsigned int fake_bind_flags(void);

/** fake_bound() - the die that is in, -1 for none */
int fake_bound(void);

/** fake_set_cost() - each bind that swaps moves the mock clock by @ns */
void fake_set_cost(uint64_t ns);

/** fake_reset() - the die's contents are lost, by nobody's order */
void fake_reset(unsigned int die);

/** fake_set_alive() - whether the die answers */
void fake_set_alive(unsigned int die, int alive);

/** fake_set_driver() - name of a kernel driver, "" for none */
void fake_set_driver(unsigned int die, const char *name);

/** fake_set_mode() - enum bs_mode */
void fake_set_mode(unsigned int die, int mode);

/** fake_set_state() - enum bs_state, overrides active and idle; -1: not */
void fake_set_state(unsigned int die, int state);

/** fake_acquire_elsewhere() - another program has had the die in */
void fake_acquire_elsewhere(unsigned int die);

/** fake_set_waiters() - other processes that wait for the slot */
void fake_set_waiters(unsigned int n);

/** fake_complaint() - how a caller broke the contract first, NULL if none */
const char *fake_complaint(void);

#endif /* FAKE_BACKEND_H */
