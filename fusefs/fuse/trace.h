/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened last, for Perfetto. */
#ifndef K80FS_FUSE_TRACE_H
#define K80FS_FUSE_TRACE_H

#include <stdint.h>

struct fs;
struct fs_file;

/** fs_trace_len() - as long as one that is opened now will be */
uint64_t fs_trace_len(void);

/**
 * fs_trace_snapshot() - the text of an open trace file
 *
 * Filled up with blanks: who copies it looks at its size before it is open, and
 * takes no more.
 *
 * Return: 0 or -ENOMEM.
 */
int fs_trace_snapshot(struct fs *fs, struct fs_file *f);

#endif /* K80FS_FUSE_TRACE_H */
