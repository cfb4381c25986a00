/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether device memory can be had from a descriptor, in a process of its own.
 */
#ifndef OWNER_WORKER_TRY_H
#define OWNER_WORKER_TRY_H

/**
 * try_import() - import it, map it, read its first word
 * @fd, @len: of the memory, as numbers
 * @uuid:     of its device, 32 hexadecimal digits
 *
 * Prints one line: the word, 16 hexadecimal digits; or the call that failed.
 *
 * Return: an exit code, 0 if it could be read.
 */
int try_import(const char *fd, const char *uuid, const char *len);

#endif /* OWNER_WORKER_TRY_H */
