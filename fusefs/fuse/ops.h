/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel asks for, by operation. */
#ifndef K80FS_FUSE_OPS_H
#define K80FS_FUSE_OPS_H

struct fuse_lowlevel_ops;

extern const struct fuse_lowlevel_ops fs_ops;

#endif /* K80FS_FUSE_OPS_H */
