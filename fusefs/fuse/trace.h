/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened last, for Perfetto. */
#ifndef K80FS_FUSE_TRACE_H
#define K80FS_FUSE_TRACE_H

struct fs;
struct fs_file;

/** fs_trace_snapshot() - the text of an open trace file. 0 or -ENOMEM */
int fs_trace_snapshot(struct fs *fs, struct fs_file *f);

#endif /* K80FS_FUSE_TRACE_H */
