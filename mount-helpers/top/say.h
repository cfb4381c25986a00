/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one line with which the program ends when it cannot go on. */
#ifndef K80_TOP_SAY_H
#define K80_TOP_SAY_H

#include <stdbool.h>

/**
 * say_why() - on standard error, why the mount at @dir cannot be read
 * @error:   an errno
 * @was_read: it could be, a moment ago
 */
void say_why(const char *dir, int error, bool was_read);

/** say_of() - "k80-top: DIR: WHAT" on standard error; drives no terminal */
void say_of(const char *dir, const char *what);

#endif /* K80_TOP_SAY_H */
