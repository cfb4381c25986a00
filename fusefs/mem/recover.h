/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is there at start: of a table, and of what the keeper has. */
#ifndef K80FS_MEM_RECOVER_H
#define K80FS_MEM_RECOVER_H

#include "mem/priv.h"

/** recover_claim() - be the pool's only user, and learn whether it has memory.
 * Sets why where that fails. @has_memory: out */
int recover_claim(struct mem_die *d, bool *has_memory);

/**
 * recover_die() - its files are there again; sets why where that fails
 *
 * A descriptor that no file of the table has is closed. A file of which one is
 * missing is removed, logged and counted in lost.
 */
int recover_die(struct mem_die *d);

#endif /* K80FS_MEM_RECOVER_H */
