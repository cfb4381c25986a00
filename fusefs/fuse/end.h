/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end: told to stop, the daemon lets the mount go, as umount -l does, and
 * serves until its last user is gone. Who asks for nothing cannot be lost
 * anything, and who still has a file open gets his answers.
 */
#ifndef K80FS_FUSE_END_H
#define K80FS_FUSE_END_H

#include <stdbool.h>

struct fs;

/* for what was written behind, and for requests that another process' lease
 * keeps waiting: as long as a service manager waits before it kills, with some
 * to spare */
#define FS_END_PATIENCE_NS (20 * NSEC_PER_SEC)

/**
 * fs_end_prepare() - before any other thread is there: signals that end the
 * daemon are for fs_end_await() from here on, to the last line of main()
 *
 * Return: 0 or -errno.
 */
int fs_end_prepare(struct fs *fs);

/** fs_end_wake() - the session was ended with fuse_session_exit(); any thread */
void fs_end_wake(struct fs *fs);

/**
 * fs_end_await() - until the session is over: the kernel has no mount of it any
 * more, or fs_end_wake()
 *
 * On a signal holds, commands that clear and what waits for a kernel of the
 * GPU's end; what was written behind gets to its dies; and the mount is let go.
 * Later signals change nothing.
 */
void fs_end_await(struct fs *fs);

/**
 * fs_end_is_whole() - whether all that was answered has reached its die since
 * the end began, what a new image leaves out too
 */
bool fs_end_is_whole(struct fs *fs);

/**
 * fs_end_cut() - the kernel gets no answer any more, and waits for none
 *
 * After it fuse_session_unmount() takes away a mount that was not let go. To be
 * called with all requests answered.
 */
void fs_end_cut(struct fs *fs);

#endif /* K80FS_FUSE_END_H */
