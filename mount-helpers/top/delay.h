/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seconds as they are typed. */
#ifndef K80_TOP_DELAY_H
#define K80_TOP_DELAY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * delay_parse() - "2", "0.5"
 * @ns: out, if true: TOP_MIN_DELAY_NS .. TOP_MAX_DELAY_NS
 *
 * Return: whether that was all of @text.
 */
bool delay_parse(const char *text, uint64_t *ns);

#endif /* K80_TOP_DELAY_H */
