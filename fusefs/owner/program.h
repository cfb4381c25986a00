/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find another program, run it and wait for it.
 */
#ifndef OWNER_PROGRAM_H
#define OWNER_PROGRAM_H

#include <stddef.h>

/**
 * program_run() - with nothing of ours open but stderr, and stdin empty
 * @args: the program, found in $PATH, and its arguments, NULL at the end
 * @out:  out: the start of what it prints, NUL-terminated; NULL: it prints to
 *        stderr
 * @len:  of @out
 *
 * Return: 0; -EIO it failed; -errno it could not be run.
 */
int program_run(const char *const *args, char *out, size_t len);

/**
 * program_find() - one of the project's own, beside this one or in
 * ../libexec/k80fs
 * @path: out: PATH_MAX bytes
 *
 * Return: 0; -ENOENT; -errno.
 */
int program_find(const char *name, char *path);

#endif /* OWNER_PROGRAM_H */
