/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command language of k80-owner, and lines out of whatever comes in: pure.
 */
#ifndef OWNER_REPL_H
#define OWNER_REPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPL_MAX_LINE 256 /* bytes without the newline */

enum repl_verb {
	REPL_BLANK,
	REPL_DISCOVER,
	REPL_ONLINE,
	REPL_OFFLINE,
	REPL_PROBE,
	REPL_WARM,
	REPL_SWAP,
	REPL_WORK,
	REPL_READ,
	REPL_COUNT,
	REPL_STATUS,
	REPL_HELP,
	REPL_SHUTDOWN,
};

/**
 * struct repl_cmd - one parsed line
 * @die:   online, offline, probe, warm, swap, work, read
 * @is_all: warm: every die
 * @seed, @iters, @delay: work
 */
struct repl_cmd {
	enum repl_verb verb;
	unsigned int die;
	bool is_all;
	uint32_t seed;
	uint32_t iters;
	uint64_t delay;
};

/**
 * repl_parse() - one line without its newline
 * @line:   of @len bytes, any bytes, not NUL-terminated
 * @n_dies: how many there are
 * @cmd:    out: on success
 * @why:    out: on failure what is wrong with it, a constant
 *
 * Return: 0; -EINVAL.
 */
int repl_parse(const char *line, size_t len, unsigned int n_dies,
	       struct repl_cmd *cmd, const char **why);

/** struct repl_input - a line that is being collected; all zero at first */
struct repl_input {
	char line[REPL_MAX_LINE];
	size_t len;
	bool is_overlong;
	bool is_done; /* the next byte starts another */
};

/**
 * repl_push() - the next byte
 *
 * Return: 1 @in->line has a line of @in->len bytes, the next byte starts
 * another; 0 not yet; -E2BIG a line ended that was too long, and is dropped.
 */
int repl_push(struct repl_input *in, char byte);

/**
 * repl_end() - nothing follows: a last line needs no newline
 * Return: as repl_push(), 0 if there is none.
 */
int repl_end(struct repl_input *in);

/** repl_name() - of a command, as it is typed; "" for REPL_BLANK */
const char *repl_name(enum repl_verb verb);

/** repl_help() - the commands, lines */
const char *repl_help(void);

#endif /* OWNER_REPL_H */
