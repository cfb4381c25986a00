/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service manager is told, see base/notify.h: `systemctl status`. */
#ifndef K80FS_FUSE_TELL_H
#define K80FS_FUSE_TELL_H

#include <stdbool.h>

struct fs;

/** fs_tell_ready() - the tree is there; any thread */
void fs_tell_ready(struct fs *fs);

/** fs_tell_changed() - a die is in another state, or held by another; cheap */
void fs_tell_changed(struct fs *fs);

/** fs_tell_ending() - told to stop, or unmounted; or fewer files are open */
void fs_tell_ending(struct fs *fs);

/** fs_tell_ended() - the last word; @is_whole: as fs_end_is_whole() */
void fs_tell_ended(bool is_whole);

#endif /* K80FS_FUSE_TELL_H */
