/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of a die; _locked: under the die's lock. */
#ifndef K80FS_MEM_NAMES_H
#define K80FS_MEM_NAMES_H

#include "mem/priv.h"

/** names_check() - 0; -ENAMETOOLONG; -EINVAL it can be no name */
int names_check(const char *name);

/** names_find_locked() - NULL: there is none */
struct mem_file *names_find_locked(const struct mem_die *d, const char *name);

/** names_room_locked() - for one more file. 0; -ENOMEM */
int names_room_locked(struct mem_die *d);

/**
 * names_add_locked() - @f, whose number is the highest, has a name now, which
 * counts on it; after names_room_locked()
 */
void names_add_locked(struct mem_die *d, struct mem_file *f, const char *name);

/** names_sort_locked() - files were added in another order than their numbers */
void names_sort_locked(struct mem_die *d);

#endif /* K80FS_MEM_NAMES_H */
