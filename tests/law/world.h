/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device under test, and how a condition is brought about on it: by an
 * order to the simulator, or by a program that knows the emulated machine.
 */
#ifndef LAW_WORLD_H
#define LAW_WORLD_H

#include <stdbool.h>

#include "axes.h"
#include "lib/barswap.h"

/**
 * struct world - the device
 * @is_sim:   it is the simulator
 * @hook:     program for the module: "HOOK WORD DIE", exit status 0
 * @me:       the context that makes the calls
 * @other:    another open file; NULL with the simulator, which has orders
 * @asked:    the die that calls are about
 * @another:  a die of another card
 * @vram:     mappings of the two, made while all was well
 * @is_stranded: the card of @asked carries a stranger for good
 */
struct world {
	bool is_sim;
	const char *hook;
	bs_context *me;
	bs_context *other;
	int asked;
	int another;
	void *vram[2];
	bool is_stranded;
};

/** world_open() - open $BARSWAP_DEVICE, or a small simulator. Exits if it fails */
void world_open(struct world *w, const char *hook, bool is_stranded);

void world_close(struct world *w);

/** world_set_cap() - the calls that follow have CAP_SYS_RAWIO or not */
void world_set_cap(struct world *w, bool has_cap);

/** world_begin() - bring about what lasts over many cases. All is well before */
void world_begin(struct world *w, const struct law_case *c);

/** world_end() - all is well again */
void world_end(struct world *w, const struct law_case *c);

/** world_arrange() - slot, holder, and conditions that a call may end */
void world_arrange(struct world *w, const struct law_case *c);

#endif /* LAW_WORLD_H */
