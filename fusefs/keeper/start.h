/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start a keeper that goes on by itself.
 */
#ifndef KEEPER_START_H
#define KEEPER_START_H

#include <stddef.h>

/**
 * start_keeper() - and wait until it listens, or has failed
 * @path: where; for KEEPER_SOCKET of root the unit is tried first, so that the
 *        keeper is no part of the service that starts it
 * @why:  out: what it said, or why it could not be run; else empty
 *
 * One that listens there already is as good. Takes at most START_PATIENCE_MS
 * twice.
 * Return: 0; -errno.
 */
int start_keeper(const char *path, char *why, size_t len);

#define START_PATIENCE_MS (30 * 1000)

#endif /* KEEPER_START_H */
