/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text/ - pure functions on words and numbers: the table of the tree (node),
 * the commands of ctl, the text of status, the words both are made of, and the
 * bookkeeping of a ring (uring).
 * May use: base. No call here waits, allocates for long or does I/O.
 * Must not know: threads, hardware, FUSE.
 *
 * The tree: a fixed table of inodes. Built once at start, immutable after.
 *
 *	/  status ctl metrics trace  by-bdf/BDF -> ../dieN
 *	   dieN/{vram,resmem,ctl,status}
 *	   dieN/mem/ whose files come and go: none of them is in the table
 *	   dieN/compute/{ctl,status,in,out,module,log}
 */
#ifndef K80FS_NODE_H
#define K80FS_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_MAX_DIES 16
#define NODE_NAME_LEN 24
#define NODE_ROOT_INO 1 /* = FUSE_ROOT_ID */
#define NODE_PER_DIE \
	16 /* inode numbers a die takes; die N starts at 16 (N + 1) */
#define NODE_TABLE_LEN (NODE_PER_DIE * (NODE_MAX_DIES + 1))

enum node_kind {
	NODE_NONE, /* no such inode */
	NODE_ROOT,
	NODE_ROOT_STATUS,
	NODE_ROOT_CTL,
	NODE_METRICS,
	NODE_TRACE,
	NODE_BY_BDF,
	NODE_LINK,
	NODE_DIE,
	NODE_VRAM,
	NODE_RESMEM,
	NODE_CTL,
	NODE_STATUS,
	NODE_COMPUTE,
	NODE_COMPUTE_CTL,
	NODE_COMPUTE_STATUS,
	NODE_COMPUTE_IN,
	NODE_COMPUTE_OUT,
	NODE_COMPUTE_MODULE,
	NODE_COMPUTE_LOG,
	NODE_MEM,
};

/**
 * struct node - one inode
 * @ino:    its number, the same in every mount
 * @parent: inode number of the folder it is in
 * @kind:   what it is
 * @die:    which die it belongs to, -1 for none
 * @name:   in its folder
 * @target: of a link
 */
struct node {
	uint64_t ino;
	uint64_t parent;
	enum node_kind kind;
	int die;
	char name[NODE_NAME_LEN];
	char target[NODE_NAME_LEN];
};

struct node_table {
	unsigned int n_dies;
	struct node nodes[NODE_TABLE_LEN];
};

/**
 * struct node_die - what there is of a die
 * @bdf:        its PCI address
 * @has_vram:   memory that is shown as one file
 * @has_resmem: a carve-out
 * @has_mem:    a folder of files in its memory
 */
struct node_die {
	char bdf[16];
	bool has_vram, has_resmem, has_mem;
};

/**
 * node_init() - build the table
 * @t:           table
 * @dies:        @n_dies of them, 0 .. NODE_MAX_DIES
 * @has_compute: whether dies have a compute folder
 */
void node_init(struct node_table *t, unsigned int n_dies,
	       const struct node_die *dies, bool has_compute);

/** node_mem_ino() - the number of a die's mem folder, be it there or not */
uint64_t node_mem_ino(unsigned int die);

/** node_get() - an inode by number, NULL if there is none */
const struct node *node_get(const struct node_table *t, uint64_t ino);

/** node_find() - a child by name, NULL if there is none */
const struct node *node_find(const struct node_table *t, const struct node *dir,
			     const char *name);

/**
 * node_next() - walk a folder
 * @pos: 0 at first; updated
 * Return: the next child, NULL at the end.
 */
const struct node *node_next(const struct node_table *t, const struct node *dir,
			     size_t *pos);

/** node_is_dir() - whether it is a folder */
bool node_is_dir(const struct node *n);

/** node_is_report() - whether it is a text that nobody writes */
bool node_is_report(const struct node *n);

/** node_is_compute() - whether it is a file in a compute folder */
bool node_is_compute(const struct node *n);

#endif /* K80FS_NODE_H */
