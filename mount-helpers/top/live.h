/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In a terminal, with keys as top(1) has them. */
#ifndef K80_TOP_LIVE_H
#define K80_TOP_LIVE_H

#include "top/top.h"

/**
 * live_run() - until it is told to end, by a key, a signal or its count, or the
 * mount goes
 * @sampler: as sampler_start() gave it
 *
 * A signal that ends it does so after the terminal was given back.
 *
 * Return: the program's exit status.
 */
int live_run(const struct top_options *o, int sampler);

#endif /* K80_TOP_LIVE_H */
