/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Prometheus is told, from all layers below. */
#ifndef K80FS_FUSE_METRICS_H
#define K80FS_FUSE_METRICS_H

#include <stddef.h>

struct fs;

/**
 * fs_metrics_text() - the text as of now
 * @buf: METRICS_MAX bytes
 *
 * Looks at every die and waits for none. Return: length without the NUL.
 */
size_t fs_metrics_text(struct fs *fs, char *buf);

#endif /* K80FS_FUSE_METRICS_H */
