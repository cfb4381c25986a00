/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which mounts of k80fs there are. */
#ifndef K80_TOP_FIND_H
#define K80_TOP_FIND_H

#include <stddef.h>
#include <stdio.h>

/**
 * find_mounts() - the folders that k80fs mounts are on
 * @mountinfo: as proc(5) has /proc/PID/mountinfo
 * @n:         out: how many; of mounts on top of each other one counts
 *
 * Return: their paths, for find_free(); NULL: no memory.
 */
char **find_mounts(FILE *mountinfo, size_t *n);

void find_free(char **mounts, size_t n);

#endif /* K80_TOP_FIND_H */
