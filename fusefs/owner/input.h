/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where commands come from when it is not standard input.
 */
#ifndef OWNER_INPUT_H
#define OWNER_INPUT_H

#include <stddef.h>

/**
 * input_open() - open a FIFO, made if it is missing, or a file
 * @why: out: on failure one line of @len bytes
 *
 * Whoever writes there commands root: it must be the user's own, and writable
 * by nobody else. A FIFO is opened for writing too, so that it has no end while
 * we have it, and what is written between two writers is not lost.
 *
 * Return: a descriptor; -errno.
 */
int input_open(const char *path, char *why, size_t len);

#endif /* OWNER_INPUT_H */
