/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What makes a file handle stale.
 *
 * A handle is the number of a file, the same in every mount, and a generation.
 * A server of files may ask a later mount for what its clients have open in an
 * earlier one. They get it if it is the same memory of the same die.
 */
#ifndef K80FS_FUSE_HANDLE_H
#define K80FS_FUSE_HANDLE_H

#include <stdint.h>

struct fs;
struct node;
struct node_die;

/** fs_handle_init() - before the first lookup; @dies: of the tree */
void fs_handle_init(struct fs *fs, const struct node_die *dies);

/**
 * fs_handle_generation() - of one file
 * Return: of what belongs to no die always 1. Else the same number in two
 * mounts if the die is the same and its memory outlives a mount: with the
 * module until the machine starts anew, of the simulator with sim_dir=.
 */
uint32_t fs_handle_generation(const struct fs *fs, const struct node *n);

#endif /* K80FS_FUSE_HANDLE_H */
