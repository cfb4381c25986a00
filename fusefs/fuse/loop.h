/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serving: from the mount to the last answer. */
#ifndef K80FS_FUSE_LOOP_H
#define K80FS_FUSE_LOOP_H

struct fs;

/**
 * fs_loop() - serve until unmounted or told to stop
 * Return: 0 or -errno.
 */
int fs_loop(struct fs *fs);

#endif /* K80FS_FUSE_LOOP_H */
