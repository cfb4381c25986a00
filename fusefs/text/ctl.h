/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command language of the ctl files: one command a line.
 */
#ifndef K80FS_CTL_H
#define K80FS_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTL_MAX_WRITE    4096 /* bytes in one write(2) */
#define CTL_MAX_WAIT_MS  86400000u /* one day */
#define CTL_MAX_SLICE_MS 10000u

enum ctl_scope { CTL_SCOPE_ROOT, CTL_SCOPE_DIE };

enum ctl_verb {
	CTL_BLANK,
	CTL_ACQUIRE,
	CTL_RELEASE,
	CTL_PIN,
	CTL_LEASE,
	CTL_UNPIN,
	CTL_RESET,
	CTL_FLUSH,
	CTL_ZERO,
	CTL_TIMESLICE,
};

/**
 * struct ctl_cmd - one parsed line
 * @verb:     what to do
 * @sbr:      acquire: reset first
 * @nowait:   fail with EBUSY while another die is held
 * @has_wait: @wait_ms replaces the mount's wait=
 * @wait_ms:  how long another's hold may block, ms
 * @has_range: zero: @off and @len were given
 * @off:      zero: first byte
 * @len:      zero: bytes
 * @slice_ms: timeslice: ms, 0 for auto
 */
struct ctl_cmd {
	enum ctl_verb verb;
	bool sbr;
	bool nowait;
	bool has_wait;
	uint32_t wait_ms;
	bool has_range;
	uint64_t off;
	uint64_t len;
	uint32_t slice_ms;
};

/**
 * ctl_check() - whether a whole write may be looked at
 * Return: 0; -E2BIG more than CTL_MAX_WRITE bytes; -EINVAL a NUL byte.
 */
int ctl_check(const char *text, size_t len);

/**
 * ctl_line() - length of the line that starts at @text, newline included
 * Return: 0 at the end of the text; the last line needs no newline.
 */
size_t ctl_line(const char *text, size_t len);

/**
 * ctl_parse() - one line, with or without its newline
 * @scope: which file it was written to
 * @line:  text, not NUL-terminated
 * @len:   bytes
 * @cmd:   out; a blank line gives CTL_BLANK
 *
 * Return: 0; -EINVAL unknown or malformed.
 */
int ctl_parse(enum ctl_scope scope, const char *line, size_t len,
	      struct ctl_cmd *cmd);

/**
 * ctl_needs_newline() - whether a line, complete or not, may destroy something:
 * it is zero, reset or acquire sbr, with whatever arguments
 */
bool ctl_needs_newline(const char *line, size_t len);

/** ctl_help() - the text that reading the file gives, NUL-terminated */
const char *ctl_help(enum ctl_scope scope);

#endif /* K80FS_CTL_H */
