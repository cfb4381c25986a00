/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void say_of(const char *dir, const char *what)
{
	fputs("k80-top: ", stderr);
	for (; *dir; dir++)
		fputc((unsigned char)*dir < ' ' || *dir == 0x7f ? '?' : *dir,
		      stderr);
	fprintf(stderr, ": %s\n", what);
}

void say_why(const char *dir, int error, bool was_read)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case EPROTO:
		say_of(dir, was_read ? "unmounted" : "no k80fs is mounted there");
		return;
	case ENOTCONN:
	case ECONNABORTED:
		say_of(dir, "its daemon is gone");
		return;
	case ECHILD:
		say_of(dir, "who read it was killed");
		return;
	default:
		say_of(dir, strerror(error));
	}
}
