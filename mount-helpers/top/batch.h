/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plain text for scripts. */
#ifndef K80_TOP_BATCH_H
#define K80_TOP_BATCH_H

#include "top/top.h"

/**
 * batch_run() - a line about the mount, then what each interval was like
 * @sampler: as sampler_start() gave it
 *
 * Return: the program's exit status.
 */
int batch_run(const struct top_options *o, int sampler);

#endif /* K80_TOP_BATCH_H */
