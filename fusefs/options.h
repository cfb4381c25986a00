/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line.
 */
#ifndef K80FS_OPTIONS_H
#define K80FS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OPTIONS_MAX_REQUEST (1u << 20) /* longest READ and WRITE, bytes */

struct fuse_args;

/**
 * struct options - what the user asked for
 * @mountpoint: absolute path
 * @backend:    "bar_swap", "sim" or "cuda"
 * @device:     for backend_open(): a path, "sim:..." put together from the
 *              sim_ options, or "cuda:..." of the cuda_ ones and mem
 * @kept_in:    where what the dies hold is left by a mount for the next one: a
 *              folder, the module's node; NULL: it is gone
 * @wait_ms:    how long another's pin or lease may block a request
 * @slice_ms:   time slice, 0 for auto
 * @uid, @gid:  owner of the tree; *_set: given by the user
 * @umask:      bits to clear from the default modes
 * @cache:      use the page cache
 * @sync:       every file is as if opened O_SYNC
 * @uring:      FUSE over io_uring where it can be had; @uring_depth: entries
 *              of each CPU's queue, 0 if not given
 * @compute:    a compute folder in each die; @streams: its kernels are those
 *              of streams of one context, not of contexts
 * @mem:        a mem folder in each die; @mem_keeper: absolute path of the
 *              socket of who holds its memory, NULL for the usual one
 * @foreground, @debug: -f, -d
 */
struct options {
	char *mountpoint;
	char *backend;
	char *device;
	char *kept_in;
	uint32_t wait_ms;
	uint32_t slice_ms;
	bool uid_set, gid_set;
	uid_t uid;
	gid_t gid;
	mode_t umask;
	bool cache;
	bool sync;
	bool uring;
	uint32_t uring_depth;
	bool compute;
	bool streams;
	bool mem;
	char *mem_keeper;
	bool foreground;
	bool debug;
	bool show_help;
	bool show_version;
};

/**
 * options_parse() - read the command line
 * @o:    out
 * @args: in: argc and argv; out: what is left for libfuse, the mount options
 *        this project always wants added
 *
 * Says on stderr what is wrong.
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int options_parse(struct options *o, struct fuse_args *args);

void options_free(struct options *o);

/** options_help() - usage, to stdout */
void options_help(const char *program);

#endif /* K80FS_OPTIONS_H */
