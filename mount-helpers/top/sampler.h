/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that takes the samples. Who waits for a daemon that hangs cannot be
 * ended, not even by SIGKILL: that must not be the one who has the terminal.
 */
#ifndef K80_TOP_SAMPLER_H
#define K80_TOP_SAMPLER_H

#include "top/top.h"

/**
 * sampler_start() - of the mount at @dir; before the terminal is touched
 *
 * From here on neither process has a current folder in a mount.
 *
 * Return: a descriptor, readable when a sample is there; or -errno. When it is
 * closed the sampler ends.
 */
int sampler_start(const char *dir);

/** sampler_ask() - for one sample. 0 or -errno */
int sampler_ask(int fd);

/**
 * sampler_get() - the sample that was asked for; waits for it
 * Return: 0; -errno: the sampler has ended.
 */
int sampler_get(int fd, struct top_sample *out);

#endif /* K80_TOP_SAMPLER_H */
