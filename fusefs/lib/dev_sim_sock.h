/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders to the simulator from other processes. */
#ifndef BARSWAP_DEV_SIM_SOCK_H
#define BARSWAP_DEV_SIM_SOCK_H

#include "lib/sim.h"

/**
 * sim_sock_open() - listen for orders on a unix stream socket
 * @s:    simulator, complete
 * @path: of the socket; a stale one is replaced
 * @sock: out
 *
 * Starts a thread, which has all signals blocked.
 *
 * Return: 0; -EADDRINUSE somebody listens there or it is no socket; -errno.
 */
int sim_sock_open(struct sim *s, const char *path, struct sim_sock **sock);

/** sim_sock_close() - end the thread, unlink the path; NULL is fine */
void sim_sock_close(struct sim_sock *sock);

#endif /* BARSWAP_DEV_SIM_SOCK_H */
