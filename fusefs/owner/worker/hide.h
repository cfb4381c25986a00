/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a worker must not see: the mounted tree, and other dies' device nodes.
 */
#ifndef OWNER_WORKER_HIDE_H
#define OWNER_WORKER_HIDE_H

#include <stddef.h>

/**
 * struct hide_env - where; tests have folders of their own
 * @gpus: as in minor_of()
 * @dev:  folder of the nodes nvidiaN
 */
struct hide_env {
	const char *gpus;
	const char *dev;
};

/**
 * hide_tree() - a mount namespace of this process's own, without our trees
 *
 * A copy of a mount keeps it alive when everybody else has unmounted it, so
 * every k80fs is detached; what is unmounted elsewhere later goes here, too, as
 * far as mounts are shared. Before any other thread is started.
 *
 * Return: 0; -EPERM without CAP_SYS_ADMIN; -errno.
 */
int hide_tree(void);

/**
 * hide_others() - leave the node of one GPU, put /dev/null over all others'
 * @bdf:   PCI address of the one
 * @minor: out: its number
 * @why:   out: on failure one line of @len bytes
 *
 * A node that is absent is made first: the driver's helper would make it again
 * whenever somebody asks for it. After hide_tree().
 *
 * Return: 0; -ENOENT the driver does not know @bdf; -errno.
 */
int hide_others(const struct hide_env *env, const char *bdf, int *minor,
		char *why, size_t len);

#endif /* OWNER_WORKER_HIDE_H */
