/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place where a keeper listens: one of them at a time.
 */
#ifndef KEEPER_PLACE_H
#define KEEPER_PLACE_H

#include <stddef.h>
#include <sys/types.h>

/**
 * place_open() - listen at a path, alone
 * @path: of the socket; beside it is made PATH.lock, which stays. The folder of
 *        KEEPER_SOCKET is made
 * @why:  out: on failure a line
 *
 * A socket that is left there from before is taken away. Only this user can
 * connect, and root.
 * Return: the socket, which does not block; -EEXIST a keeper listens there or
 * is about to, or had its socket taken away; -errno.
 */
int place_open(const char *path, char *why, size_t len);

/** place_close() - take the socket's name away */
void place_close(const char *path);

#endif /* KEEPER_PLACE_H */
