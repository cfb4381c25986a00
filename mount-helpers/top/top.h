/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top/ - k80-top: what the dies of a mount are doing.
 * May use: the C library; ncurses in screen.c alone.
 * Must not know: how k80fs works. It reads the mount's metrics and status files,
 * none of which puts a die into the slot, and has none of them open meanwhile.
 *
 * What its files share: two samples, the second minus the first is a line.
 */
#ifndef K80_TOP_H
#define K80_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

#define TOP_MAX_DIES 16

/**
 * struct top_die - of one die, as the files have it
 * @state, @hold, @holder: words of its status, printable
 * @slot_ns: how long it was in the slot
 */
struct top_die {
	char state[12];
	char hold[8];
	char holder[32];
	bool in_slot;
	uint64_t swaps;
	uint64_t read_bytes, written_bytes;
	uint64_t waiting;
	uint64_t errors;
	uint64_t slot_ns;
};

/**
 * struct top_sample - of a mount at one moment
 * @error:   0, or the errno of what could not be read: the rest is not set
 * @at_ns:   how old the mount was
 * @mount:   tells one mount from the next at the same place
 */
struct top_sample {
	int error;
	uint64_t at_ns;
	uint64_t mount;
	char backend[16];
	bool has_slot;
	unsigned int n_dies;
	struct top_die dies[TOP_MAX_DIES];
};

/**
 * struct top_options - what is asked for
 * @dir:      the mount
 * @delay_ns: between two samples
 * @count:    times that figures are shown; 0: until told to end
 */
struct top_options {
	const char *dir;
	uint64_t delay_ns;
	uint64_t count;
};

#define TOP_MIN_DELAY_NS (NSEC_PER_SEC / 10)
#define TOP_MAX_DELAY_NS (3600 * NSEC_PER_SEC)

#endif /* K80_TOP_H */
