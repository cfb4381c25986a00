/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command language of compute/ctl: one command a line; pure.
 */
#ifndef K80FS_COMPUTE_CTL_H
#define K80FS_COMPUTE_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "owner/owner.h"

enum compute_verb {
	COMPUTE_BLANK,
	COMPUTE_ONLINE,
	COMPUTE_OFFLINE,
	COMPUTE_WORK,
	COMPUTE_LAUNCH,
	COMPUTE_SYNC,
	COMPUTE_VERIFY,
	COMPUTE_KERNELS,
};

#define COMPUTE_NAME_MAX 255 /* bytes of a file's name, without the NUL */

/**
 * struct compute_place - an argument that is memory of a file
 * @is_given: it is; what has no @name is the die's vram
 */
struct compute_place {
	bool is_given;
	char name[COMPUTE_NAME_MAX + 1];
};

/**
 * struct compute_cmd - one parsed line
 * @seed, @iters, @delay: work
 * @launch: launch; its arguments that are a file's have their offset in @bits,
 *          and their @memory is not set yet
 * @places: launch: of each argument
 */
struct compute_cmd {
	enum compute_verb verb;
	uint32_t seed;
	uint32_t iters;
	uint64_t delay;
	struct owner_launch launch;
	struct compute_place places[PTX_MAX_PARAMS];
};

/**
 * compute_parse() - one line, with or without its newline
 * @line: text of @len bytes, not NUL-terminated
 * @cmd:  out: on success; a blank line gives COMPUTE_BLANK
 *
 * Return: 0; -EINVAL unknown or malformed.
 */
int compute_parse(const char *line, size_t len, struct compute_cmd *cmd);

/** compute_help() - the text that reading the file gives */
const char *compute_help(void);

#endif /* K80FS_COMPUTE_CTL_H */
