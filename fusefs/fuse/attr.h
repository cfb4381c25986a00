/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What chmod, chown and time change, and how long a die's memory is. */
#ifndef K80FS_FUSE_ATTR_H
#define K80FS_FUSE_ATTR_H

#include <stdint.h>
#include <sys/stat.h>

#include "text/node.h"

struct fs;

/** fs_attr_init() - every node as the options want it, changed now */
void fs_attr_init(struct fs *fs);

/**
 * fs_attr_touch() - it was written to: mtime and ctime are now
 * @uid: by whom: the kernel leaves it to us to clear set-id bits
 */
void fs_attr_touch(struct fs *fs, uint64_t ino, uid_t uid);

/** fs_without_set_id() - what is left of a mode after a write or a chown */
mode_t fs_without_set_id(mode_t mode);

/** fs_default_mode() - type and permissions before umask= and chmod */
mode_t fs_default_mode(enum node_kind kind);

/** fs_vram_len() - bytes of vram or resmem */
uint64_t fs_vram_len(const struct fs *fs, const struct node *n);

#endif /* K80FS_FUSE_ATTR_H */
