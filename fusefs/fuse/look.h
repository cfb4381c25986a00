/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look at the daemon's own mount, by a thread that may be left behind.
 *
 * A thread that waits for an answer of its own process cannot be killed once
 * that has read the request. With it the descriptors stay that it shares, and
 * the kernel gives up the mount when they are closed, not before. So kill -9 at
 * that moment would make the mount hang for good, with all who use it.
 */
#ifndef K80FS_FUSE_LOOK_H
#define K80FS_FUSE_LOOK_H

#include <sys/stat.h>

/**
 * fs_look() - as stat(2), by a thread that has no descriptors
 * @fuse_fd: the session's, where not all can be closed at once
 *
 * Return: 0; -errno.
 */
int fs_look(const char *path, int fuse_fd, struct stat *st);

#endif /* K80FS_FUSE_LOOK_H */
