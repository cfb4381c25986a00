/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text that grows in a buffer of fixed length.
 */
#ifndef K80FS_PUT_H
#define K80FS_PUT_H

#include <stddef.h>

/**
 * struct text - what was put so far
 * @buf: @room bytes, NUL-terminated after the first put()
 * @len: without the NUL, below @room
 */
struct text {
	char *buf;
	size_t room;
	size_t len;
};

/** put() - append; what has no room is cut off */
void put(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* K80FS_PUT_H */
