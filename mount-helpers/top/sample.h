/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a mount's files into a sample. */
#ifndef K80_TOP_SAMPLE_H
#define K80_TOP_SAMPLE_H

#include <stddef.h>

#include "top/top.h"

/**
 * sample_take() - of the mount at @dir, an absolute path
 * @out: out; @out->error is EPROTO if no k80fs is there
 *
 * Waits for a daemon that hangs, and no signal ends that: sampler.h.
 */
void sample_take(const char *dir, struct top_sample *out);

/** sample_metrics() - what the text of a metrics file says */
void sample_metrics(const char *text, struct top_sample *out);

/** sample_root() - the text of the root's status */
void sample_root(const char *text, struct top_sample *out);

/** sample_die() - the text of a die's status */
void sample_die(const char *text, struct top_die *out);

#endif /* K80_TOP_SAMPLE_H */
