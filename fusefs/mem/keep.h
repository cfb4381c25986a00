/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What k80-keeper holds for us. If it is gone, another one is started and
 * given everything, before the call that met it goes on.
 */
#ifndef K80FS_MEM_KEEP_H
#define K80FS_MEM_KEEP_H

#include "mem/priv.h"

/** keep_open() - find it, or start it; @why: out, one line. 0 or -errno */
int keep_open(struct mem *m, char *why, size_t len);
void keep_close(struct mem *m);

/** keep_fd() - POLLHUP when it has died; -1: there is none */
int keep_fd(struct mem *m);

/**
 * keep_put() - it has the chunk when this returns
 * Return: 0; -EIO there is no keeper, and none can be started; -ENFILE,
 * -ENOMEM.
 */
int keep_put(struct mem_die *d, struct mem_chunk *c);

/** keep_note() - it is known to have the chunk already */
void keep_note(struct mem_die *d, struct mem_chunk *c);

/** keep_drop() - it is to forget these; at the latest another daemon does it */
void keep_drop(struct mem_die *d, struct mem_chunk *const *chunks,
	       unsigned int n);

/** keep_forget() - these are no longer ours; the keeper goes on holding them */
void keep_forget(struct mem_die *d, struct mem_chunk *const *chunks,
		 unsigned int n);

/** keep_again() - it has died: start another. 0 or -errno */
int keep_again(struct mem *m);

#endif /* K80FS_MEM_KEEP_H */
