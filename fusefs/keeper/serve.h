/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper's loop: clients of a listening socket, their questions, answers.
 */
#ifndef KEEPER_SERVE_H
#define KEEPER_SERVE_H

#include <signal.h>

/* clients at one time; a further one is turned away */
#define SERVE_MAX_CLIENTS 64

/**
 * serve() - until a signal asks for the end
 * @listener: a socket that does not block
 * @is_ended: set by a handler of signals that are blocked
 * @during:   the signal mask while it waits, which lets them through
 *
 * No client can make it wait, end or keep what it has refused.
 * Return: 0; -errno it cannot wait for anybody.
 */
int serve(int listener, const volatile sig_atomic_t *is_ended,
	  const sigset_t *during);

#endif /* KEEPER_SERVE_H */
