/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that commits what nobody asks for, and misses the keeper. */
#ifndef K80FS_MEM_TEND_H
#define K80FS_MEM_TEND_H

struct mem;

int tend_start(struct mem *m);
void tend_stop(struct mem *m);

#endif /* K80FS_MEM_TEND_H */
