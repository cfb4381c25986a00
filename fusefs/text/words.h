/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of a command line and strict numbers: pure, nothing is ever read as 0.
 */
#ifndef K80FS_WORDS_H
#define K80FS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a piece of a line, not NUL-terminated */
struct word {
	const char *s;
	size_t len;
};

/**
 * words_split() - cut a line at blanks and tabs
 * @line:  text of @len bytes, not NUL-terminated
 * @words: out
 * @max:   entries of @words
 *
 * Return: the number of words, at most @max; what is behind them is not looked
 * at.
 */
size_t words_split(const char *line, size_t len, struct word *words, size_t max);

/** word_is() - whether it is this text */
bool word_is(const struct word *w, const char *s);

/**
 * word_number() - a decimal number and nothing else
 * @out: out: at most @max; set on success only
 * Return: 0; -EINVAL.
 */
int word_number(const char *s, size_t len, uint64_t max, uint64_t *out);

/**
 * word_hex() - hexadecimal digits and nothing else, without 0x
 * Return: 0; -EINVAL, also if it does not fit.
 */
int word_hex(const char *s, size_t len, uint64_t *out);

#endif /* K80FS_WORDS_H */
