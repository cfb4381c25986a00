/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text/node.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"

static struct node *node_add(struct node_table *t, uint64_t ino,
			     uint64_t parent, enum node_kind kind, int die)
{
	struct node *n = &t->nodes[ino];

	n->ino = ino;
	n->parent = parent;
	n->kind = kind;
	n->die = die;
	return n;
}

/* Behind the numbers of the die's own files. */
static void add_compute(struct node_table *t, uint64_t die_dir, int die)
{
	static const struct {
		enum node_kind kind;
		const char *name;
	} files[] = {
		{ NODE_COMPUTE_CTL, "ctl" },
		{ NODE_COMPUTE_STATUS, "status" },
		{ NODE_COMPUTE_IN, "in" },
		{ NODE_COMPUTE_OUT, "out" },
		{ NODE_COMPUTE_MODULE, "module" },
		{ NODE_COMPUTE_LOG, "log" },
	};
	const uint64_t dir = die_dir + 6;
	struct node *n;

	n = node_add(t, dir, die_dir, NODE_COMPUTE, die);
	strcpy(n->name, "compute");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		n = node_add(t, dir + 1 + i, dir, files[i].kind, die);
		strcpy(n->name, files[i].name);
	}
}

/* Behind those of compute. */
uint64_t node_mem_ino(unsigned int die)
{
	return (uint64_t)NODE_PER_DIE * (die + 1) + 13;
}

static void add_mem(struct node_table *t, uint64_t die_dir, int die)
{
	struct node *n = node_add(t, node_mem_ino((unsigned int)die), die_dir,
				  NODE_MEM, die);

	strcpy(n->name, "mem");
}

static bool is_there(const struct node_die *die, enum node_kind kind)
{
	return kind == NODE_RESMEM ? die->has_resmem
	       : kind == NODE_VRAM ? die->has_vram
				   : true;
}

void node_init(struct node_table *t, unsigned int n_dies,
	       const struct node_die *dies, bool has_compute)
{
	static const struct {
		enum node_kind kind;
		const char *name;
	} files[] = {
		{ NODE_VRAM, "vram" },
		{ NODE_RESMEM, "resmem" },
		{ NODE_CTL, "ctl" },
		{ NODE_STATUS, "status" },
	};
	const uint64_t by_bdf = 4;
	struct node *n;

	memset(t, 0, sizeof(*t));
	t->n_dies = n_dies;
	node_add(t, NODE_ROOT_INO, NODE_ROOT_INO, NODE_ROOT, -1);
	n = node_add(t, 2, NODE_ROOT_INO, NODE_ROOT_STATUS, -1);
	strcpy(n->name, "status");
	n = node_add(t, 3, NODE_ROOT_INO, NODE_ROOT_CTL, -1);
	strcpy(n->name, "ctl");
	n = node_add(t, by_bdf, NODE_ROOT_INO, NODE_BY_BDF, -1);
	strcpy(n->name, "by-bdf");
	n = node_add(t, 5, NODE_ROOT_INO, NODE_METRICS, -1);
	strcpy(n->name, "metrics");
	n = node_add(t, 6, NODE_ROOT_INO, NODE_TRACE, -1);
	strcpy(n->name, "trace");

	for (unsigned int die = 0; die < n_dies; die++) {
		uint64_t dir = (uint64_t)NODE_PER_DIE * (die + 1);

		n = node_add(t, dir, NODE_ROOT_INO, NODE_DIE, (int)die);
		snprintf(n->name, sizeof(n->name), "die%u", die);
		for (unsigned int i = 0; i < 4; i++) {
			if (!is_there(&dies[die], files[i].kind))
				continue;
			n = node_add(t, dir + 1 + i, dir, files[i].kind,
				     (int)die);
			strcpy(n->name, files[i].name);
		}
		n = node_add(t, dir + 5, by_bdf, NODE_LINK, (int)die);
		snprintf(n->name, sizeof(n->name), "%s", dies[die].bdf);
		snprintf(n->target, sizeof(n->target), "../die%u", die);
		if (has_compute)
			add_compute(t, dir, (int)die);
		if (dies[die].has_mem)
			add_mem(t, dir, (int)die);
	}
}

const struct node *node_get(const struct node_table *t, uint64_t ino)
{
	if (ino >= NODE_TABLE_LEN || t->nodes[ino].kind == NODE_NONE)
		return NULL;
	return &t->nodes[ino];
}

const struct node *node_next(const struct node_table *t, const struct node *dir,
			     size_t *pos)
{
	while (++*pos < NODE_TABLE_LEN) {
		const struct node *n = &t->nodes[*pos];

		if (n->kind != NODE_NONE && n->kind != NODE_ROOT &&
		    n->parent == dir->ino)
			return n;
	}
	return NULL;
}

const struct node *node_find(const struct node_table *t, const struct node *dir,
			     const char *name)
{
	const struct node *n;
	size_t pos = 0;

	while ((n = node_next(t, dir, &pos)))
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

bool node_is_dir(const struct node *n)
{
	return n->kind == NODE_ROOT || n->kind == NODE_BY_BDF ||
	       n->kind == NODE_DIE || n->kind == NODE_COMPUTE ||
	       n->kind == NODE_MEM;
}

bool node_is_report(const struct node *n)
{
	return n->kind == NODE_ROOT_STATUS || n->kind == NODE_STATUS ||
	       n->kind == NODE_METRICS || n->kind == NODE_TRACE ||
	       n->kind == NODE_COMPUTE_STATUS || n->kind == NODE_COMPUTE_LOG;
}

bool node_is_compute(const struct node *n)
{
	return n->kind >= NODE_COMPUTE_CTL && n->kind <= NODE_COMPUTE_LOG;
}
